// Decides what a response means for the batch that was sent: done, partly done, or failed.
//
// A call failed if any of these holds:
// - The status is 300 or higher.
// - The response has X-Amz-Function-Error.
// - The body is an object with errorType or errorMessage (the runtime interface emulator sends no header).
// - No response arrives, or it arrives too late.
//
// With ReportBatchItemFailures, the body can name records that failed:
// {"batchItemFailures":[{"itemIdentifier": "100000000000000004200"}]}. The next attempt begins at the lowest
// of these identifiers. If an identifier is empty, null, missing, or not from this batch, the whole batch
// failed. A missing or empty list means success.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "compat/lambda/lambda_event.h"
#include "compat/outbound/invoker.h"

namespace mayfly::compat::triggers {

struct Outcome {
  enum class Kind { success, partial, failure, stopped };
  Kind kind = Kind::success;
  std::size_t first_failed = 0;  // for partial: the record's index in the batch; can be 0
  int status = 200;
  std::string executed_version, function_error;  // on failure: "Unhandled" if the function does not name an
                                                 // error
  // On failure: errorType and errorMessage of the response, or other details. At most error_type_bytes_max
  // and error_message_bytes_max bytes of UTF-8; control characters (except \n and \t in the message) become
  // '?'.
  std::string error_type, error_message;
  std::string state = "{}";  // on success with tumbling windows: JSON
};

inline constexpr std::size_t error_type_bytes_max = 256, error_message_bytes_max = 2048;

Outcome judge(const Expected<outbound::InvocationAnswer, outbound::InvocationFailure>& answer,
              std::span<const Record> batch, bool reports_failures);

// Returns the error of a response: the header's value or "Unhandled"; nullopt if there is no error.
std::optional<std::string> function_error(const outbound::InvocationAnswer& answer);

}  // namespace mayfly::compat::triggers
