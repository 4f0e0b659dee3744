#include "compat/wire/error.h"

#include "compat/wire/json.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view serialization_type = "com.amazon.coral.service#SerializationException";
constexpr std::string_view access_denied_type = "com.amazon.coral.service#AccessDeniedException";
constexpr std::string_view transaction_canceled_type =
    "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
constexpr std::string_view idempotent_parameter_mismatch_type =
    "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException";

bool spells_message_large(std::string_view type) {
  return type == serialization_type || type == access_denied_type || type == transaction_canceled_type ||
         type == idempotent_parameter_mismatch_type;
}

Unexpected<Error> dynamodb(std::string_view name, std::string message, std::string extra = {}) {
  return Unexpected{Error{.type = "com.amazonaws.dynamodb.v20120810#" + std::string(name),
                          .message = error::cut(std::move(message)),
                          .extra = std::move(extra)}};
}

}  // namespace

namespace error {

std::string cut(std::string message) {
  if (message.size() <= message_bytes_max) return message;
  std::size_t end = message_bytes_max;
  while ((message[end] & 0xc0) == 0x80) --end;  // not within a character
  return message.substr(0, end) + "…";
}

Unexpected<Error> validation(std::string message) {
  return Unexpected{
      Error{.type = "com.amazon.coral.validate#ValidationException", .message = cut(std::move(message))}};
}

Unexpected<Error> serialization(std::string message) {
  return Unexpected{Error{.type = std::string(serialization_type), .message = cut(std::move(message))}};
}

Unexpected<Error> access_denied(std::string message) {
  return Unexpected{Error{.type = std::string(access_denied_type), .message = cut(std::move(message))}};
}

Unexpected<Error> unknown_operation() {
  return Unexpected{Error{.type = "com.amazon.coral.service#UnknownOperationException"}};
}

Unexpected<Error> resource_not_found(std::string message) {
  return dynamodb("ResourceNotFoundException", std::move(message));
}

Unexpected<Error> resource_in_use(std::string message) {
  return dynamodb("ResourceInUseException", std::move(message));
}

Unexpected<Error> conditional_check_failed(std::string item_json) {
  return dynamodb("ConditionalCheckFailedException", "The conditional request failed",
                  item_json.empty() ? "" : "\"Item\":" + item_json);
}

Unexpected<Error> transaction_canceled(std::string message, const std::string& reasons_json) {
  return Unexpected{Error{.type = std::string(transaction_canceled_type),
                          .message = cut(std::move(message)),
                          .extra = "\"CancellationReasons\":" + reasons_json}};
}

Unexpected<Error> idempotent_parameter_mismatch(std::string message) {
  return Unexpected{
      Error{.type = std::string(idempotent_parameter_mismatch_type), .message = cut(std::move(message))}};
}

Unexpected<Error> table_not_found(std::string message) {
  return dynamodb("TableNotFoundException", std::move(message));
}

Unexpected<Error> global_table_not_found(std::string message) {
  return dynamodb("GlobalTableNotFoundException", std::move(message));
}

Unexpected<Error> policy_not_found(std::string message) {
  return dynamodb("PolicyNotFoundException", std::move(message));
}

Unexpected<Error> duplicate_item() {
  return dynamodb("DuplicateItemException", "Duplicate primary key exists in table");
}

Unexpected<Error> limit_exceeded(std::string message) {
  return dynamodb("LimitExceededException", std::move(message));
}

Unexpected<Error> item_collection_size_limit_exceeded() {
  return dynamodb("ItemCollectionSizeLimitExceededException", "Collection size exceeded.");
}

Unexpected<Error> trimmed_data_access(std::string message) {
  return dynamodb("TrimmedDataAccessException", std::move(message));
}

Unexpected<Error> expired_iterator(std::string message) {
  return dynamodb("ExpiredIteratorException", std::move(message));
}

Unexpected<Error> internal_server_error() {
  return Unexpected{Error{.type = "com.amazonaws.dynamodb.v20120810#InternalServerError",
                          .message = "Internal server error",
                          .status = 500}};
}

}  // namespace error

std::string error_body(const Error& error) {
  std::string body = "{\"__type\":";
  json::append_escaped(body, error.type);
  if (!error.message.empty()) {
    body += spells_message_large(error.type) ? ",\"Message\":" : ",\"message\":";
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
