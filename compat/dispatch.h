// Finds the operation that a target names, checks its request and runs it.
//
//   const auto number = operation_number("DynamoDB_20120810.PutItem");
//   Answer answer = dispatch(context, *all_operations()[*number], body);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "compat/context.h"
#include "compat/operation.h"
#include "compat/wire/answer.h"

namespace mayfly::compat {

// An operation, as an index into all_operations().
using OperationNumber = std::size_t;
// Returns the operation that a target such as "DynamoDB_20120810.PutItem" names, or nullopt if there is no
// such operation. Callers look up a request's target once and pass on the number.
std::optional<OperationNumber> operation_number(std::string_view target);
// Returns the operation with this name, such as "PutItem", in any service; nullopt if there is none.
std::optional<OperationNumber> operation_named(std::string_view name);

// Returns all operations, in the order of the table in dispatch.cc.
std::span<const Operation* const> all_operations();

// Parses the request, checks its types and constraints, and runs the operation. Errors become error
// responses; an exception such as bad_alloc (engine/base/attempt.h) becomes a 500.
Answer dispatch(Context& context, const Operation& operation, std::string_view body);

}  // namespace mayfly::compat
