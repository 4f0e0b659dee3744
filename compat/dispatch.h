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
// The operation that a target names, such as "DynamoDB_20120810.PutItem"; nullopt if it does not exist. A
// request is resolved once, and its number is passed on.
std::optional<OperationNumber> operation_number(std::string_view target);
// The operation with this name, such as "PutItem", in any service.
std::optional<OperationNumber> operation_named(std::string_view name);

// All operations, in the order of the table in dispatch.cc.
std::span<const Operation* const> all_operations();

// Parses the request, checks types, checks constraints, and runs the operation. Errors become error
// responses; an exception such as bad_alloc (engine/base/attempt.h) becomes a 500.
Answer dispatch(Context& context, const Operation& operation, std::string_view body);

}  // namespace mayfly::compat
