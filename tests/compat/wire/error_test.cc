#include "compat/wire/error.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using namespace compat;

TEST_CASE("errors are spelled as the service spells them") {
  CHECK(error_body(error::validation("a \"b\"").error) ==
        R"({"__type":"com.amazon.coral.validate#ValidationException","message":"a \"b\""})");
  CHECK(error_body(error::serialization("Unexpected field type").error) ==
        R"({"__type":"com.amazon.coral.service#SerializationException","Message":"Unexpected field type"})");
  CHECK(error_body(error::serialization("").error) ==
        R"({"__type":"com.amazon.coral.service#SerializationException"})");
  CHECK(error_body(error::unknown_operation().error) ==
        R"({"__type":"com.amazon.coral.service#UnknownOperationException"})");
  CHECK(
      error_body(error::resource_not_found("Requested resource not found").error) ==
      R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"})");
  CHECK(error_body(error::conditional_check_failed(R"({"a":{"S":"x"}})").error) ==
        R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
        R"("message":"The conditional request failed","Item":{"a":{"S":"x"}}})");
}

TEST_CASE("what an answer says of an error is said by its kind") {
  using Kind = Error::Kind;
  CHECK(error::conditional_check_failed().error.kind == Kind::conditional_check_failed);
  CHECK(error_status(Kind::conditional_check_failed) == 400);
  CHECK(error_status(Kind::internal_server_error) == 500);
  CHECK(error_status(Kind::timed_out) == 408);
  CHECK(error_type(Kind::throttling) == "com.amazon.coral.availability#ThrottlingException");
  CHECK(error_type(Kind::timed_out) == "mayfly#TimedOut");
  CHECK(error_name(Kind::timed_out) == "TimedOut");
  CHECK(error_type(Kind::lambda_validation) == "ValidationException");  // in a header of its own
  CHECK(error_body({.kind = Kind::transaction_canceled, .message = "x"}) ==
        R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"x"})");
}

TEST_CASE("batches and transactions call errors by short names") {
  using Kind = Error::Kind;
  CHECK(error_code(Kind::conditional_check_failed) == "ConditionalCheckFailed");
  CHECK(error_code(Kind::duplicate_item) == "DuplicateItem");
  CHECK(error_code(Kind::resource_not_found) == "ResourceNotFound");
  CHECK(error_code(Kind::item_collection_size_limit_exceeded) == "ItemCollectionSizeLimitExceeded");
  CHECK(error_code(Kind::internal_server_error) == "InternalServerError");
  CHECK(error_code(Kind::validation) == "ValidationError");
}

TEST_CASE("a message is cut off at its limit, between two characters") {
  // In brackets, so that a failure does not print them.
  const std::string fits(message_bytes_max, 'x');
  CHECK((error::validation(fits).error.message == fits));
  CHECK((error::validation(fits + "y").error.message == fits + "…"));
  CHECK((error::serialization(std::string(10'000'000, 'x')).error.message == fits + "…"));
  CHECK((error::resource_not_found(fits + "y").error.message == fits + "…"));
  const std::string before(message_bytes_max - 1, 'x');
  CHECK((error::validation(before + "é and more").error.message == before + "…"));
}

}  // namespace mayfly::testing
