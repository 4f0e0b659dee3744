// AWS's errors by their names. A message stands whole where it is raised.
#pragma once

#include <string>
#include <string_view>

#include "engine/expected.h"

namespace mayfly::compat {

// Messages say what was wrong with values by repeating them, and a request may have 16 MB of those. AWS's
// limit is not known; longer than this are none that it was seen to give.
inline constexpr std::size_t message_bytes_max = 64 * 1024;

struct Error {
  std::string type;     // "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
  std::string message;  // empty: the answer has no message member; cut off after message_bytes_max
  int status = 400;
  std::string extra;  // further members as JSON text, without braces: "\"Item\":{…}"
};

template <class T>
using Result = Expected<T, Error>;

namespace error {
// The message as far as it goes into an answer: whole, or cut off with "…".
std::string cut(std::string message);

Unexpected<Error> validation(std::string message);     // com.amazon.coral.validate#ValidationException
Unexpected<Error> serialization(std::string message);  // com.amazon.coral.service#SerializationException
Unexpected<Error> access_denied(std::string message);  // com.amazon.coral.service#AccessDeniedException
Unexpected<Error> unknown_operation();
Unexpected<Error> resource_not_found(std::string message);
Unexpected<Error> table_not_found(std::string message);  // of backups: others say resource_not_found
Unexpected<Error> global_table_not_found(std::string message);
Unexpected<Error> policy_not_found(std::string message);
Unexpected<Error> resource_in_use(std::string message);
Unexpected<Error> conditional_check_failed(
    std::string item_json = {});  // item_json: {} of the old item, or empty
// `reasons_json` is the list CancellationReasons.
Unexpected<Error> transaction_canceled(std::string message, const std::string& reasons_json);
Unexpected<Error> idempotent_parameter_mismatch(std::string message);
Unexpected<Error> duplicate_item();  // PartiQL's INSERT
Unexpected<Error> limit_exceeded(std::string message);
Unexpected<Error> item_collection_size_limit_exceeded();
Unexpected<Error> trimmed_data_access(std::string message);
Unexpected<Error> expired_iterator(std::string message);
Unexpected<Error> internal_server_error();  // 500
}  // namespace error

// {"__type":…,"message":…} as the service spells it (some exceptions spell it "Message").
std::string error_body(const Error& error);

}  // namespace mayfly::compat
