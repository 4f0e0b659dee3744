#include "compat/wire/error.h"

#include <algorithm>
#include <iterator>

#include "compat/json/json.h"

namespace mayfly::compat {
namespace {

using Kind = Error::Kind;

struct Form {
  Kind kind;
  int status;
  std::string_view space;  // precedes the name and a '#' in __type; empty for Lambda
  std::string_view name;
  std::string_view code = name;  // what batches and transactions report
  bool large = false;            // the response spells the member "Message"
};

constexpr std::string_view dynamodb = "com.amazonaws.dynamodb.v20120810";
constexpr std::string_view coral = "com.amazon.coral.service";
constexpr std::string_view validate = "com.amazon.coral.validate";
constexpr std::string_view availability = "com.amazon.coral.availability";
constexpr std::string_view lambda;
constexpr std::string_view ours = "mayfly";

// The entries are in the order of Kind.
constexpr Form forms[] = {
    {Kind::access_denied, 400, coral, "AccessDeniedException", "AccessDenied", true},
    {Kind::backup_in_use, 400, dynamodb, "BackupInUseException", "BackupInUse"},
    {Kind::backup_not_found, 400, dynamodb, "BackupNotFoundException", "BackupNotFound"},
    {Kind::conditional_check_failed, 400, dynamodb, "ConditionalCheckFailedException",
     "ConditionalCheckFailed"},
    {Kind::duplicate_item, 400, dynamodb, "DuplicateItemException", "DuplicateItem"},
    {Kind::expired_iterator, 400, dynamodb, "ExpiredIteratorException", "ExpiredIterator"},
    {Kind::export_conflict, 400, dynamodb, "ExportConflictException", "ExportConflict"},
    {Kind::export_not_found, 400, dynamodb, "ExportNotFoundException", "ExportNotFound"},
    {Kind::global_table_not_found, 400, dynamodb, "GlobalTableNotFoundException", "GlobalTableNotFound"},
    {Kind::idempotent_parameter_mismatch, 400, dynamodb, "IdempotentParameterMismatchException",
     "IdempotentParameterMismatch", true},
    {Kind::import_conflict, 400, dynamodb, "ImportConflictException", "ImportConflict"},
    {Kind::import_not_found, 400, dynamodb, "ImportNotFoundException", "ImportNotFound"},
    {Kind::incomplete_signature, 400, coral, "IncompleteSignatureException", "IncompleteSignature"},
    {Kind::internal_server_error, 500, dynamodb, "InternalServerError"},
    {Kind::invalid_export_time, 400, dynamodb, "InvalidExportTimeException", "InvalidExportTime"},
    {Kind::invalid_restore_time, 400, dynamodb, "InvalidRestoreTimeException", "InvalidRestoreTime"},
    {Kind::invalid_signature, 400, coral, "InvalidSignatureException", "InvalidSignature"},
    {Kind::item_collection_size_limit_exceeded, 400, dynamodb, "ItemCollectionSizeLimitExceededException",
     "ItemCollectionSizeLimitExceeded"},
    {Kind::limit_exceeded, 400, dynamodb, "LimitExceededException", "LimitExceeded"},
    {Kind::missing_authentication_token, 400, coral, "MissingAuthenticationTokenException",
     "MissingAuthenticationToken"},
    {Kind::point_in_time_recovery_unavailable, 400, dynamodb, "PointInTimeRecoveryUnavailableException",
     "PointInTimeRecoveryUnavailable"},
    {Kind::policy_not_found, 400, dynamodb, "PolicyNotFoundException", "PolicyNotFound"},
    {Kind::provisioned_throughput_exceeded, 400, dynamodb, "ProvisionedThroughputExceededException",
     "ProvisionedThroughputExceeded"},
    {Kind::replicated_write_conflict, 400, dynamodb, "ReplicatedWriteConflictException",
     "ReplicatedWriteConflict"},
    {Kind::request_limit_exceeded, 400, dynamodb, "RequestLimitExceeded"},
    {Kind::resource_in_use, 400, dynamodb, "ResourceInUseException", "ResourceInUse"},
    {Kind::resource_not_found, 400, dynamodb, "ResourceNotFoundException", "ResourceNotFound"},
    {Kind::serialization, 400, coral, "SerializationException", "Serialization", true},
    {Kind::table_already_exists, 400, dynamodb, "TableAlreadyExistsException", "TableAlreadyExists"},
    {Kind::table_in_use, 400, dynamodb, "TableInUseException", "TableInUse"},
    {Kind::table_not_found, 400, dynamodb, "TableNotFoundException", "TableNotFound"},
    {Kind::throttling, 400, availability, "ThrottlingException", "Throttling"},
    {Kind::transaction_canceled, 400, dynamodb, "TransactionCanceledException", "TransactionCanceled", true},
    {Kind::transaction_conflict, 400, dynamodb, "TransactionConflictException", "TransactionConflict"},
    {Kind::trimmed_data_access, 400, dynamodb, "TrimmedDataAccessException", "TrimmedDataAccess"},
    {Kind::unknown_operation, 400, coral, "UnknownOperationException", "UnknownOperation"},
    {Kind::unrecognized_client, 400, coral, "UnrecognizedClientException", "UnrecognizedClient"},
    {Kind::validation, 400, validate, "ValidationException", "ValidationError"},

    {Kind::lambda_bad_gateway, 502, lambda, "ServiceException", {}, true},
    {Kind::lambda_conflict, 409, lambda, "ResourceConflictException"},
    {Kind::lambda_invalid_parameter, 400, lambda, "InvalidParameterValueException"},
    {Kind::lambda_invalid_request_content, 400, lambda, "InvalidRequestContentException"},
    {Kind::lambda_not_found, 404, lambda, "ResourceNotFoundException", {}, true},
    {Kind::lambda_request_too_large, 413, lambda, "RequestEntityTooLargeException"},
    {Kind::lambda_serialization, 400, lambda, "SerializationException"},
    {Kind::lambda_too_many_requests, 429, lambda, "TooManyRequestsException"},
    {Kind::lambda_unavailable, 500, lambda, "ServiceException", {}, true},
    {Kind::lambda_validation, 400, lambda, "ValidationException"},

    {Kind::bad_request, 400, ours, "BadRequest"},
    {Kind::conflict, 409, ours, "Conflict"},
    {Kind::forbidden, 403, ours, "Forbidden"},
    {Kind::method_not_allowed, 405, ours, "MethodNotAllowed"},
    {Kind::not_acceptable, 406, ours, "NotAcceptable"},
    {Kind::not_found, 404, ours, "NotFound"},
    {Kind::stopped, 503, ours, "Stopped"},
    {Kind::timed_out, 408, ours, "TimedOut"},
    {Kind::too_many_waiting, 503, ours, "TooManyWaiting"},
    {Kind::unsupported_media_type, 415, ours, "UnsupportedMediaType"},
};

constexpr bool each_kind_has_its_form() {
  std::size_t place = 0;
  for (const Form& form : forms)
    if (static_cast<std::size_t>(form.kind) != place++) return false;
  return place == static_cast<std::size_t>(Kind::unsupported_media_type) + 1;
}
static_assert(each_kind_has_its_form());

const Form& form_of(Kind kind) { return forms[static_cast<std::size_t>(kind)]; }

Unexpected<Error> make(Kind kind, std::string message, std::string extra = {}) {
  return Unexpected{
      Error{.kind = kind, .message = error::cut(std::move(message)), .extra = std::move(extra)}};
}

}  // namespace

int error_status(Kind kind) { return form_of(kind).status; }

std::string error_type(Kind kind) {
  const Form& form = form_of(kind);
  std::string type(form.space);
  if (!type.empty()) type += '#';
  return type += form.name;
}

std::string_view error_name(Kind kind) { return form_of(kind).name; }

std::string_view message_member(Kind kind) { return form_of(kind).large ? "Message" : "message"; }

std::string_view error_code(Kind kind) { return form_of(kind).code; }

namespace error {

std::string cut(std::string message) {
  constexpr std::string_view gap = "…";
  if (message.size() <= message_bytes_max) return message;
  const auto within_character = [&](std::size_t place) { return (message[place] & 0xc0) == 0x80; };
  std::size_t begin = message_bytes_max - message_end_bytes - gap.size(),
              end = message.size() - message_end_bytes;
  while (begin > 0 && within_character(begin)) --begin;
  while (end < message.size() && within_character(end)) ++end;
  message.replace(begin, end - begin, gap);
  return message;
}

Unexpected<Error> validation(std::string message, Error::About about) {
  return Unexpected{Error{.kind = Kind::validation, .message = cut(std::move(message)), .about = about}};
}

Unexpected<Error> invalid_parameters(std::string_view what) {
  return validation("One or more parameter values were invalid: " + std::string(what));
}

Unexpected<Error> serialization(std::string message) { return make(Kind::serialization, std::move(message)); }

Unexpected<Error> access_denied(std::string message) { return make(Kind::access_denied, std::move(message)); }

Unexpected<Error> unknown_operation() { return make(Kind::unknown_operation, {}); }

Unexpected<Error> resource_not_found(std::string message) {
  return make(Kind::resource_not_found, std::move(message));
}

Unexpected<Error> resource_in_use(std::string message) {
  return make(Kind::resource_in_use, std::move(message));
}

Unexpected<Error> backup_in_use(std::string message) { return make(Kind::backup_in_use, std::move(message)); }

Unexpected<Error> backup_not_found(std::string message) {
  return make(Kind::backup_not_found, std::move(message));
}

Unexpected<Error> invalid_restore_time(std::string message) {
  return make(Kind::invalid_restore_time, std::move(message));
}

Unexpected<Error> point_in_time_recovery_unavailable(std::string message) {
  return make(Kind::point_in_time_recovery_unavailable, std::move(message));
}

Unexpected<Error> table_already_exists(std::string message) {
  return make(Kind::table_already_exists, std::move(message));
}

Unexpected<Error> table_in_use(std::string message) { return make(Kind::table_in_use, std::move(message)); }

Unexpected<Error> conditional_check_failed(std::string item_json) {
  return make(Kind::conditional_check_failed, "The conditional request failed",
              item_json.empty() ? "" : "\"Item\":" + item_json);
}

Unexpected<Error> transaction_canceled(std::string message, const std::string& reasons_json) {
  return make(Kind::transaction_canceled, std::move(message), "\"CancellationReasons\":" + reasons_json);
}

Unexpected<Error> idempotent_parameter_mismatch(std::string message) {
  return make(Kind::idempotent_parameter_mismatch, std::move(message));
}

Unexpected<Error> table_not_found(std::string message) {
  return make(Kind::table_not_found, std::move(message));
}

Unexpected<Error> global_table_not_found(std::string message) {
  return make(Kind::global_table_not_found, std::move(message));
}

Unexpected<Error> policy_not_found(std::string message) {
  return make(Kind::policy_not_found, std::move(message));
}

Unexpected<Error> duplicate_item() {
  return make(Kind::duplicate_item, "Duplicate primary key exists in table");
}

Unexpected<Error> limit_exceeded(std::string message) {
  return make(Kind::limit_exceeded, std::move(message));
}

Unexpected<Error> item_collection_size_limit_exceeded() {
  return make(Kind::item_collection_size_limit_exceeded, "Collection size exceeded.");
}

Unexpected<Error> trimmed_data_access(std::string message) {
  return make(Kind::trimmed_data_access, std::move(message));
}

Unexpected<Error> expired_iterator(std::string message) {
  return make(Kind::expired_iterator, std::move(message));
}

Unexpected<Error> export_conflict(std::string message) {
  return make(Kind::export_conflict, std::move(message));
}

Unexpected<Error> export_not_found(std::string message) {
  return make(Kind::export_not_found, std::move(message));
}

Unexpected<Error> import_conflict(std::string message) {
  return make(Kind::import_conflict, std::move(message));
}

Unexpected<Error> import_not_found(std::string message) {
  return make(Kind::import_not_found, std::move(message));
}

Unexpected<Error> invalid_export_time(std::string message) {
  return make(Kind::invalid_export_time, std::move(message));
}

Unexpected<Error> replicated_write_conflict() {
  return make(
      Kind::replicated_write_conflict,
      "The request was rejected because one or more items in the request are being modified by a request "
      "in another Region.");
}
Unexpected<Error> internal_server_error() {
  return make(Kind::internal_server_error, "Internal server error");
}

}  // namespace error

std::string error_body(const Error& error, bool newer) {
  std::string body = "{\"__type\":";
  json::append_escaped(body, error_type(error.kind));
  if (!error.message.empty()) {
    body += ",\"";
    const bool with_item = error.kind == Kind::conditional_check_failed && !error.extra.empty();
    body += with_item && !newer ? "Message" : message_member(error.kind);
    body += "\":";
    json::append_escaped(body, error.message);
  }
  if (!error.extra.empty()) {
    body += ',';
    body += error.extra;
  }
  body += '}';
  return body;
}

}  // namespace mayfly::compat
