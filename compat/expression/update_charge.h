// What DynamoDB charges for what an UpdateExpression writes, in bytes. UpdateItem refuses a charge that is
// larger than an item may be, whatever the item comes to.
//
//   charge_of(parse_update("SET a = :v", …))   3 + (19 + 1 + the size of :v)
//
// Measured on AWS, October 2026, in 31 of 33 regions: 3, and for each clause
//   SET      19 + target + operand        operand := the size of a value, wherever it is used again
//   ADD      19 + target + value                   | a path: 1 + ( 14 + element )+
//   REMOVE    1 + target                           | +: 34, -: 37, list_append: 37, if_not_exists: 39,
//   DELETE    1 + target                           |   and its operands
//   target := the first name, then ( 4 + element )*
// An element is a name's bytes or a list position's decimal digits: REMOVE l[1] is 7, REMOVE l[10] is 8.
#pragma once

#include <cstddef>

#include "compat/expression/ast.h"

namespace mayfly::compat::expression {

// Stops once the charge is larger than an item may be: an expression can name a value as large as the request
// hundreds of times.
std::size_t charge_of(const Update& update);

}  // namespace mayfly::compat::expression
