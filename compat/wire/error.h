// AWS's errors by their names, and ours. What an error is stands in its kind; what an answer says of that is
// one table's, in error.cc. A message stands whole where it is raised, and nobody reads it but people.
//
//   return error::validation("The table does not have the specified index: " + name);
//   if (done.error().kind == Error::Kind::conditional_check_failed) …
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/expected.h"

namespace mayfly::compat {

// Messages say what was wrong with values by repeating them, and a request may have 16 MB of those. AWS's
// limit is not known: it was seen to say what is wrong with a name of 65,536 bytes. In a longer message "…"
// stands for what is too much, before its end, which says what was wrong.
inline constexpr std::size_t message_bytes_max = 64 * 1024;
inline constexpr std::size_t message_end_bytes = 1024;

struct Error {
  enum class Kind : std::uint8_t {
    // DynamoDB's, and what stands before every service of AWS
    access_denied,
    backup_in_use,
    backup_not_found,
    conditional_check_failed,
    duplicate_item,
    expired_iterator,
    export_conflict,
    export_not_found,
    global_table_not_found,
    idempotent_parameter_mismatch,
    import_conflict,
    import_not_found,
    incomplete_signature,
    internal_server_error,
    invalid_export_time,
    invalid_restore_time,
    invalid_signature,
    item_collection_size_limit_exceeded,
    limit_exceeded,
    missing_authentication_token,
    point_in_time_recovery_unavailable,
    policy_not_found,
    provisioned_throughput_exceeded,
    replicated_write_conflict,
    request_limit_exceeded,
    resource_in_use,
    resource_not_found,
    serialization,
    table_already_exists,
    table_in_use,
    table_not_found,
    throttling,
    transaction_canceled,
    transaction_conflict,
    trimmed_data_access,
    unknown_operation,
    unrecognized_client,
    validation,
    // Lambda's (compat/triggers/lambda_error.h)
    lambda_bad_gateway,
    lambda_conflict,
    lambda_invalid_parameter,
    lambda_invalid_request_content,
    lambda_not_found,
    lambda_request_too_large,
    lambda_serialization,
    lambda_too_many_requests,
    lambda_unavailable,
    lambda_validation,
    // Mayfly's own: control, and who may ask at all
    bad_request,
    conflict,
    forbidden,
    method_not_allowed,
    not_acceptable,
    not_found,
    stopped,
    timed_out,
    too_many_waiting,
    unsupported_media_type,
  };
  // What a validation found fault with, where those who pass it on go by that.
  enum class About : std::uint8_t {
    unsaid,
    number,      // it is none, or none that DynamoDB has; a set of none
    duplicates,  // in a set
    key_schema,  // a key attribute is missing or has another type
    nesting,     // values within values, too deep
    name,        // an attribute of an item has none
  };

  Kind kind;
  std::string message{};  // empty: the answer has no message member; at most message_bytes_max
  std::string extra{};    // further members as JSON text, without braces: "\"Item\":{…}"
  About about = About::unsaid;
};

template <class T>
using Result = Expected<T, Error>;

// What an answer says of a kind.
int error_status(Error::Kind kind);             // 400
std::string error_type(Error::Kind kind);       // "com.amazonaws.dynamodb.v20120810#DuplicateItemException"
std::string_view error_name(Error::Kind kind);  // "DuplicateItemException"
std::string_view message_member(Error::Kind kind);  // "message"; some exceptions spell it "Message"
// What batches and transactions call it in what they say of each statement or action: "DuplicateItem",
// "ValidationError".
std::string_view error_code(Error::Kind kind);

namespace error {
// The message as it goes into an answer: whole, or with "…" for a part of it.
std::string cut(std::string message);

Unexpected<Error> validation(std::string message, Error::About about = Error::About::unsaid);
// "One or more parameter values were invalid: …"
Unexpected<Error> invalid_parameters(std::string_view what);
Unexpected<Error> serialization(std::string message);
Unexpected<Error> access_denied(std::string message);
Unexpected<Error> unknown_operation();
Unexpected<Error> resource_not_found(std::string message);
Unexpected<Error> table_not_found(std::string message);  // of backups: others say resource_not_found
Unexpected<Error> global_table_not_found(std::string message);
Unexpected<Error> policy_not_found(std::string message);
Unexpected<Error> resource_in_use(std::string message);
Unexpected<Error> backup_in_use(std::string message);
Unexpected<Error> backup_not_found(std::string message);
Unexpected<Error> invalid_restore_time(std::string message);
Unexpected<Error> point_in_time_recovery_unavailable(std::string message);
Unexpected<Error> table_already_exists(std::string message);  // of restores, as the next one
Unexpected<Error> table_in_use(std::string message);
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
Unexpected<Error> export_conflict(std::string message);
Unexpected<Error> export_not_found(std::string message);
Unexpected<Error> import_conflict(std::string message);
Unexpected<Error> import_not_found(std::string message);
Unexpected<Error> invalid_export_time(std::string message);
Unexpected<Error> replicated_write_conflict();
Unexpected<Error> internal_server_error();  // 500
}  // namespace error

// {"__type":…,"message":…} as the service spells it. Where a condition failed and the item is returned as
// well, the old front end says "Message" and the new one (`newer`, see frame.h) "message".
std::string error_body(const Error& error, bool newer = false);

}  // namespace mayfly::compat
