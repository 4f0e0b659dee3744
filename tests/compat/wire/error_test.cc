#include "compat/wire/error.h"

#include <catch2/catch.hpp>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {

using namespace compat;

TEST_CASE("error bodies have the same spelling as in DynamoDB's responses") {
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
        R"("Message":"The conditional request failed","Item":{"a":{"S":"x"}}})");
}

TEST_CASE("an error's kind determines its HTTP status and its names") {
  using Kind = Error::Kind;
  CHECK(error::conditional_check_failed().error.kind == Kind::conditional_check_failed);
  CHECK(error_status(Kind::conditional_check_failed) == 400);
  CHECK(error_status(Kind::internal_server_error) == 500);
  CHECK(error_status(Kind::timed_out) == 408);
  CHECK(error_type(Kind::throttling) == "com.amazon.coral.availability#ThrottlingException");
  CHECK(error_type(Kind::timed_out) == "mayfly#TimedOut");
  CHECK(error_name(Kind::timed_out) == "TimedOut");
  CHECK(error_type(Kind::lambda_validation) == "ValidationException");  // sent in a separate header
  CHECK(error_body({.kind = Kind::transaction_canceled, .message = "x"}) ==
        R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"x"})");
}

TEST_CASE("batches and transactions use short names for errors") {
  using Kind = Error::Kind;
  CHECK(error_code(Kind::conditional_check_failed) == "ConditionalCheckFailed");
  CHECK(error_code(Kind::duplicate_item) == "DuplicateItem");
  CHECK(error_code(Kind::resource_not_found) == "ResourceNotFound");
  CHECK(error_code(Kind::item_collection_size_limit_exceeded) == "ItemCollectionSizeLimitExceeded");
  CHECK(error_code(Kind::internal_server_error) == "InternalServerError");
  CHECK(error_code(Kind::validation) == "ValidationError");
}

TEST_CASE("an oversized message is cut in the middle at character boundaries") {
  // The parentheses keep Catch from printing the long strings on failure.
  const std::string fits(message_bytes_max, 'x');
  CHECK((error::validation(fits).error.message == fits));
  const std::size_t begin_bytes = message_bytes_max - message_end_bytes - std::string_view("…").size();
  const std::string begin(begin_bytes, 'x'), end = std::string(message_end_bytes - 6, 'x') + " a why";
  CHECK((error::validation(fits + end).error.message == begin + "…" + end));
  CHECK((error::serialization(std::string(10'000'000, 'x') + end).error.message == begin + "…" + end));
  CHECK((error::resource_not_found(fits + end).error.message == begin + "…" + end));
  std::string accents;
  for (std::size_t i = 0; i < message_bytes_max; ++i) accents += "é";
  const std::string cut = error::validation("x" + accents + "x").error.message;
  CHECK((cut.size() <= message_bytes_max && cut.size() >= message_bytes_max - 2));
  const auto gap = cut.find("…");
  CHECK((cut.substr(0, gap) == ("x" + accents).substr(0, gap) && gap % 2 == 1));
  CHECK((cut.substr(gap + 3) == accents.substr(0, message_end_bytes - 2) + "x"));
}

TEST_CASE("an error about a name that is too long still says what is wrong") {
  TestEmulator emulator;
  const std::string name(65'536, 'n');
  const std::string message = emulator.refused(
      "PutItem", {{"TableName", "t"}, {"Item", {{"id", {{"S", "1"}}}, {name, {{"S", "2"}}}}}});
  CHECK((message.size() <= message_bytes_max));
  CHECK((message.find("65535") != std::string::npos));
}

}  // namespace mayfly::testing
