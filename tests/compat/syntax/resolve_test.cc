#include "compat/syntax/resolve.h"

#include "compat/syntax/parser.h"
#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

compat::Result<Substitutions> read(std::string_view request, compat::Frame frame = compat::Frame::older) {
  const auto document = json::parse(request);
  REQUIRE(document != nullptr);
  return Substitutions::read(document->root(), frame);
}

}  // namespace

TEST_CASE("placeholders are checked before any expression is parsed") {
  const std::initializer_list<Wrong> table = {
      {R"({"ExpressionAttributeNames":{},"ExpressionAttributeValues":{}})",
       "ExpressionAttributeNames must not be empty"},
      {R"({"ExpressionAttributeNames":{"a":"a"},"ExpressionAttributeValues":{}})",
       R"(ExpressionAttributeNames contains invalid key: Syntax error; key: "a")"},
      {R"({"ExpressionAttributeNames":{"#":"a"}})",
       R"(ExpressionAttributeNames contains invalid key: Syntax error; key: "#")"},
      {R"({"ExpressionAttributeNames":{"#a-b":"a"}})",
       R"(ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b")"},
      {R"({"ExpressionAttributeNames":{"#a":""}})",
       "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
      {R"({"ExpressionAttributeValues":{}})", "ExpressionAttributeValues must not be empty"},
      {R"({"ExpressionAttributeValues":{":b":{"a":""},"b":{"S":"a"}}})",
       R"(ExpressionAttributeValues contains invalid key: Syntax error; key: "b")"},
      {R"({"ExpressionAttributeValues":{":b":{"SS":[]}}})",
       "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An "
       "string set  may "
       "not be empty for key :b"},
      {R"({"ExpressionAttributeValues":{":b":{"S":"a","N":"1"}}})",
       "ExpressionAttributeValues contains invalid value: Supplied AttributeValue has more than one "
       "datatypes set, must "
       "contain exactly one of the supported datatypes for key :b"},
      {R"({"ExpressionAttributeValues":{":b":{"N":"b"}}})",
       "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric "
       "value: b for "
       "key :b"},
  };
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(message(read(row.expression)) == row.message);
  }
}

TEST_CASE("an expression's errors begin with the same text as the errors of its placeholders") {
  const char* const bad_value = R"({"ExpressionAttributeValues":{":b":{"N":"b"}}})";
  const std::string number = "The parameter cannot be converted to a numeric value: b";
  const std::string envelope = "1 validation error detected: ";
  CHECK(message(read(bad_value, compat::Frame::bare)) == number);
  CHECK(message(read(bad_value, compat::Frame::enveloped)) == envelope + number);
  CHECK(message(read(R"({"ExpressionAttributeNames":{}})", compat::Frame::enveloped)) ==
        envelope + "ExpressionAttributeNames must not be empty");

  auto substitutions = read(R"({"ExpressionAttributeNames":{"#b":"b"}})", compat::Frame::enveloped);
  REQUIRE(substitutions);
  CHECK(message(substitutions->check_all_used()) ==
        envelope + "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}");
  CHECK(message(parse_condition("ConditionExpression", "", *substitutions)) ==
        envelope + "Invalid ConditionExpression: The expression can not be empty;");
  CHECK(message(parse_projection("a,", *substitutions)) ==
        envelope + R"(Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ",")");
  CHECK(message(parse_update("SET", *substitutions)) ==
        envelope + R"(Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET")");
}

TEST_CASE("an error lists unused names and values in the order of the request") {
  auto substitutions = read(R"({"ExpressionAttributeNames":{"#b":"b","#a":"a","#c":"c"},
                                "ExpressionAttributeValues":{":y":{"S":"1"},":x":{"S":"2"}}})");
  REQUIRE(substitutions);
  CHECK(message(substitutions->check_all_used()) ==
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #a, #c}");
  CHECK(*substitutions->name("#a") == "a");
  CHECK(*substitutions->name("#b") == "b");
  CHECK(substitutions->name("#x") == nullptr);
  CHECK(message(substitutions->check_all_used()) ==
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c}");
  CHECK(substitutions->name("#c") != nullptr);
  CHECK(message(substitutions->check_all_used()) ==
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y, :x}");
  CHECK((*substitutions->value(":x"))->type() == engine::Type::string);
  CHECK(substitutions->value(":y") != nullptr);
  CHECK(substitutions->check_all_used());
}

TEST_CASE("the later of two definitions of the same placeholder counts") {
  auto substitutions = read(R"({"ExpressionAttributeNames":{"#a":"first","#a":"last"}})");
  REQUIRE(substitutions);
  CHECK(*substitutions->name("#a") == "last");
  CHECK(substitutions->check_all_used());
}

}  // namespace mayfly::testing
