// Errors of requests: AWS's errors, by their names, and Mayfly's own errors.
//
// Code that handles an error tests its kind. error.cc has the status, type and name that a response gives for
// each kind. Each message is written out in full where the error is raised; no code parses it.
//
//   return error::validation("The table does not have the specified index: " + name);
//   if (done.error().kind == Error::Kind::conditional_check_failed) …
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace mayfly::compat {

// Messages quote invalid values, and a request can hold 16 MB of them. AWS's limit is unknown; AWS was
// observed to quote a name of 65,536 bytes. In a longer message "…" replaces the excess. The last
// message_end_bytes are kept, because they say what was wrong.
inline constexpr std::size_t message_bytes_max = 64 * 1024;
inline constexpr std::size_t message_end_bytes = 1024;

struct Error {
  enum class Kind : std::uint8_t {
    // DynamoDB's errors, and the errors that every AWS service can return
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
    // Lambda's errors (compat/lambda/lambda_error.h)
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
    // Mayfly's own errors, from the control API and from access checks
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
  // The subject of a validation error, for callers that handle some subjects differently.
  enum class About : std::uint8_t {
    unsaid,
    number,      // a number is malformed or unsupported, or a number set is empty
    duplicates,  // a set has duplicates
    key_schema,  // a key attribute is missing or has another type
    nesting,     // values are nested too deeply
    name,        // an attribute of an item has an empty name
  };

  Kind kind;
  std::string message{};  // empty: the response has no message member; at most message_bytes_max
  std::string extra{};    // further members as JSON text, without braces: "\"Item\":{…}"
  About about = About::unsaid;
};

template <class T>
using Result = Expected<T, Error>;

// These functions return how a response reports an error of this kind.
int error_status(Error::Kind kind);             // 400
std::string error_type(Error::Kind kind);       // "com.amazonaws.dynamodb.v20120810#DuplicateItemException"
std::string_view error_name(Error::Kind kind);  // "DuplicateItemException"
std::string_view message_member(Error::Kind kind);  // "message"; some exceptions spell it "Message"
// Returns the code that batches and transactions report for a statement or an action: "DuplicateItem",
// "ValidationError".
std::string_view error_code(Error::Kind kind);

namespace error {
// Returns the message as it appears in a response: unchanged, or shortened with "…" to message_bytes_max.
std::string cut(std::string message);

Unexpected<Error> validation(std::string message, Error::About about = Error::About::unsaid);
// "One or more parameter values were invalid: …"
Unexpected<Error> invalid_parameters(std::string_view what);
Unexpected<Error> serialization(std::string message);
Unexpected<Error> access_denied(std::string message);
Unexpected<Error> unknown_operation();
Unexpected<Error> resource_not_found(std::string message);
Unexpected<Error> table_not_found(std::string message);  // for backups; otherwise resource_not_found
Unexpected<Error> global_table_not_found(std::string message);
Unexpected<Error> policy_not_found(std::string message);
Unexpected<Error> resource_in_use(std::string message);
Unexpected<Error> backup_in_use(std::string message);
Unexpected<Error> backup_not_found(std::string message);
Unexpected<Error> invalid_restore_time(std::string message);
Unexpected<Error> point_in_time_recovery_unavailable(std::string message);
Unexpected<Error> table_already_exists(std::string message);  // for restores, like table_in_use
Unexpected<Error> table_in_use(std::string message);
Unexpected<Error> conditional_check_failed(
    std::string item_json = {});  // item_json: the old item as {…}, or empty
// `reasons_json` is the CancellationReasons array.
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

// {"__type":…,"message":…} in the service's spelling. When a condition failed and the response contains the
// item, the old front end spells the member "Message" and the new one (`newer`, see frame.h) "message".
std::string error_body(const Error& error, bool newer = false);

}  // namespace mayfly::compat
