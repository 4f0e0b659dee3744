// From a target and a body to an answer: finds the operation, checks its request and runs it.
//
//   const Operation* operation = find_operation("DynamoDB_20120810.PutItem");
//   Answer answer = dispatch(context, *operation, body);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/operation.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"

namespace mayfly::compat {

// nullptr: there is no such operation. Target is "DynamoDB_20120810.PutItem".
const Operation* find_operation(std::string_view target);
// The same by its place in all_operations().
std::optional<std::size_t> operation_number(std::string_view target);

struct Answer {
  static constexpr int no_status = 0;  // the client gets no answer, and its connection is closed
  int status = 200;
  std::string body;
};

// The message for callers in this process that get no answer.
inline constexpr std::string_view closed_by_fault = "a fault closed the connection";

// The answer that an error makes in a request's frame: its status and body.
Answer error_answer(const Error& error, Frame frame = Frame::older);

// Every operation, in the table's order.
std::span<const Operation* const> all_operations();

// Parse, check types, check constraints, run; errors become their answers, a failure (engine/attempt.h) a
// 500.
Answer dispatch(Context& context, const Operation& operation, std::string_view body);

}  // namespace mayfly::compat
