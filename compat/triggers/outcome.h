// What an answer means for the batch that was sent: done, done in part, or failed.
//
// A failure is a status of 300 or more, an X-Amz-Function-Error, a body that is an object with errorType or
// errorMessage (the runtime interface emulator sends no header), no answer, or none in time.
//
// With ReportBatchItemFailures the body may name records that failed:
// {"batchItemFailures":[{"itemIdentifier": "100000000000000004200"}]}. The lowest of them is where the next
// try begins. An identifier that is empty, null, missing, or of no record of the batch fails the whole batch;
// no list, or an empty one, is success.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "compat/outbound/invoker.h"
#include "compat/triggers/lambda_event.h"

namespace mayfly::compat::triggers {

struct Outcome {
  enum class Kind { success, partial, failure, stopped };
  Kind kind = Kind::success;
  std::size_t first_failed = 0;  // partial: its place in the batch, 0 included
  int status = 200;
  std::string executed_version, function_error;  // of a failure: "Unhandled" where the function says nothing
  // Of a failure: errorType and errorMessage of the answer, or what else is known. At most
  // error_type_bytes_max and error_message_bytes_max bytes of UTF-8; control characters (but \n and \t in the
  // message) become '?'.
  std::string error_type, error_message;
  std::string state = "{}";  // of a success with tumbling windows: JSON
};

inline constexpr std::size_t error_type_bytes_max = 256, error_message_bytes_max = 2048;

Outcome judge(const Expected<outbound::InvocationAnswer, outbound::InvocationFailure>& answer,
              std::span<const Record> batch, bool reports_failures);

// The error that an answer tells of: the header, or "Unhandled"; nothing: none.
std::optional<std::string> function_error(const outbound::InvocationAnswer& answer);

}  // namespace mayfly::compat::triggers
