// The size that DynamoDB charges for an UpdateExpression, in bytes. UpdateItem rejects an update whose charge
// exceeds the maximum item size, even if the resulting item is small enough.
//
//   charge_of(parse_update("SET a = :v", …))   3 + (19 + 1 + the size of :v)
//
// Measured on AWS in October 2026, in 31 of 33 regions. The charge is 3, plus for each clause:
//   SET      19 + target + operand        operand := the size of a value, each time it is used
//   ADD      19 + target + value                   | a path: 1 + ( 14 + element )+
//   REMOVE    1 + target                           | +: 34, -: 37, list_append: 37, if_not_exists: 39,
//   DELETE    1 + target                           |   and its operands
//   target := the first name, then ( 4 + element )*
// The charge for an element is the number of bytes in its name or of decimal digits in its list position:
// REMOVE l[1] is charged 7 bytes, REMOVE l[10] 8 bytes.
#pragma once

#include <cstddef>

#include "compat/syntax/ast.h"

namespace mayfly::compat::expression {

// Stops adding once the charge exceeds the maximum item size, because an expression can use the same value
// hundreds of times, and the value can be as large as the request.
std::size_t charge_of(const Update& update);

}  // namespace mayfly::compat::expression
