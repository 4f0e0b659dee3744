// The expected results were measured on AWS by dynalite (test/putItem.js, updateItem.js, query.js, scan.js)
// and Alternator (test_expected.py, test_query_filter.py, test_key_conditions.py, test_item.py).
#include "compat/expression/legacy.h"

#include "compat/expression/update.h"
#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

const char* const legacy_document =
    R"({"n":{"N":"5"},"s":{"S":"hello"},"ns":{"NS":["2","4"]},"l":{"L":[{"N":"4"}]}})";

// Evaluates the condition on the document above. Returns "true", "false" or the error message.
std::string outcome(const compat::Result<std::optional<Condition>>& condition) {
  if (!condition) return condition.error().message;
  if (!*condition) return "no condition";
  return evaluate(**condition, item(legacy_document)) ? "true" : "false";
}

std::string expected(std::string_view members) {
  const std::string text = "{" + std::string(members) + "}";
  const auto request = json::parse(text);
  REQUIRE(request != nullptr);
  return outcome(read_expected(request->root(), compat::Frame::older));
}

std::string filter(std::string_view members) {
  const std::string text = "{" + std::string(members) + "}";
  const auto request = json::parse(text);
  REQUIRE(request != nullptr);
  return outcome(read_filter(request->root(), "ScanFilter", compat::Frame::older));
}

// Applies a filter with one condition, which compares `attribute` with a list of values.
std::string compared(std::string_view attribute, std::string_view comparison, std::string_view values) {
  return filter("\"ScanFilter\":{\"" + std::string(attribute) + "\":{\"ComparisonOperator\":\"" +
                std::string(comparison) + "\",\"AttributeValueList\":[" + std::string(values) + "]}}");
}

std::string key_conditions(std::string_view json, const engine::KeySchema& schema) {
  const auto conditions = json::parse(json);
  REQUIRE(conditions != nullptr);
  auto predicates = read_key_conditions(conditions->root(), compat::Frame::older);
  if (!predicates) return predicates.error().message;
  const auto matched = match_key_schema(*std::move(predicates), schema);
  return matched ? "ok" : matched.error().message;
}

std::string updated_by_attributes(std::string_view updates, std::string_view old_item) {
  const auto json = json::parse(updates);
  REQUIRE(json != nullptr);
  const auto update = read_attribute_updates(json->root(), compat::Frame::older);
  if (!update) return update.error().message;
  const auto result = apply(*update, item(old_item));
  return result ? text_of(*result) : result.error().message;
}

const std::string invalid = "One or more parameter values were invalid: ";

}  // namespace

TEST_CASE("Expected compares attributes or checks whether they exist") {
  CHECK(expected(R"("Expected":{"n":{"Value":{"N":"5.0"}}})") == "true");
  CHECK(expected(R"("Expected":{"n":{"Value":{"N":"6"}}})") == "false");
  CHECK(expected(R"("Expected":{"n":{"Exists":true,"Value":{"N":"5"}}})") == "true");
  CHECK(expected(R"("Expected":{"gone":{"Exists":false}})") == "true");
  CHECK(expected(R"("Expected":{"n":{"Exists":false}})") == "false");
  CHECK(expected(R"("Expected":{"gone":{"Exists":"no"}})") == "true");
  CHECK(expected(R"("Expected":{"n":{"ComparisonOperator":"GE","Value":{"N":"5"}}})") == "true");
  CHECK(expected(R"("Expected":{"n":{"ComparisonOperator":"NULL"}})") == "false");
  CHECK(expected(R"("Expected":{"gone":{"ComparisonOperator":"NULL","AttributeValueList":[]}})") == "true");
  CHECK(expected(R"("Expected":{})") == "no condition");
  CHECK(expected("") == "no condition");
}

TEST_CASE("conditions are joined with AND unless ConditionalOperator is OR") {
  const std::string two = R"("Expected":{"n":{"Value":{"N":"5"}},"s":{"Value":{"S":"other"}}})";
  CHECK(expected(two) == "false");
  CHECK(expected(two + R"(,"ConditionalOperator":"AND")") == "false");
  CHECK(expected(two + R"(,"ConditionalOperator":"OR")") == "true");
  const char* const without = "ConditionalOperator cannot be used without Filter or Expected";
  CHECK(expected(R"("ConditionalOperator":"OR")") == without);
  CHECK(expected(R"("Expected":{},"ConditionalOperator":"OR")") == without);
  CHECK(expected(R"("Expected":{"n":{"Exists":false}},"ConditionalOperator":"AND")") ==
        "ConditionalOperator can only be used when Filter or Expected has two or more elements");
}

TEST_CASE("Expected rejects invalid combinations of members") {
  const std::initializer_list<Wrong> table = {
      {R"({})", "Value must be provided when Exists is null for Attribute: a"},
      {R"({"Exists":true})", "Value must be provided when Exists is true for Attribute: a"},
      {R"({"Exists":false,"Value":{"S":"a"}})", "Value cannot be used when Exists is false for Attribute: a"},
      {R"({"Value":{"S":"a"},"AttributeValueList":[],"ComparisonOperator":"LT","Exists":true})",
       "Value and AttributeValueList cannot be used together for Attribute: a"},
      {R"({"Exists":true,"ComparisonOperator":"LT"})",
       "Exists and ComparisonOperator cannot be used together for Attribute: a"},
      {R"({"ComparisonOperator":"LT"})",
       "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a"},
      {R"({"AttributeValueList":[{"S":"a"}]})",
       "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
      {R"({"ComparisonOperator":"LT","AttributeValueList":[{"S":"a"},{"S":"b"}]})",
       "Invalid number of argument(s) for the LT ComparisonOperator"},
      {R"({"ComparisonOperator":"NULL","Value":{"S":"a"}})",
       "Invalid number of argument(s) for the NULL ComparisonOperator"},
      {R"({"ComparisonOperator":"IN","AttributeValueList":[]})",
       "Invalid number of argument(s) for the IN ComparisonOperator"},
      {R"({"ComparisonOperator":"BETWEEN","AttributeValueList":[{"S":"a"},{"N":"1"}]})",
       "AttributeValues inside AttributeValueList must be of same type"},
      {R"({"ComparisonOperator":"LE","AttributeValueList":[{"L":[]}]})",
       "ComparisonOperator LE is not valid for L AttributeValue type"},
  };
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(expected("\"Expected\":{\"a\":" + std::string(row.expression) + "}") ==
          invalid + std::string(row.message));
  }
}

TEST_CASE("filter operators compare attributes and reject invalid arguments") {
  CHECK(compared("n", "EQ", R"({"N":"5"})") == "true");
  CHECK(compared("l", "EQ", R"({"L":[{"N":"4"}]})") == "true");
  CHECK(compared("n", "NE", R"({"N":"5"})") == "false");
  CHECK(compared("gone", "NE", R"({"N":"5"})") == "true");
  CHECK(compared("n", "LT", R"({"N":"6"})") == "true");
  CHECK(compared("n", "GT", R"({"S":"4"})") == "false");
  CHECK(compared("s", "BEGINS_WITH", R"({"S":"he"})") == "true");
  CHECK(compared("n", "BETWEEN", R"({"N":"5"},{"N":"6"})") == "true");
  CHECK(compared("n", "IN", R"({"N":"1"},{"N":"5"})") == "true");
  CHECK(compared("ns", "IN", R"({"N":"2"},{"N":"4"})") == "false");
  CHECK(compared("s", "CONTAINS", R"({"S":"ell"})") == "true");
  CHECK(compared("ns", "CONTAINS", R"({"N":"4"})") == "true");
  CHECK(compared("l", "CONTAINS", R"({"N":"4"})") == "true");
  CHECK(compared("s", "NOT_CONTAINS", R"({"S":"x"})") == "true");
  CHECK(compared("s", "NOT_CONTAINS", R"({"S":"ell"})") == "false");
  CHECK(compared("gone", "NOT_CONTAINS", R"({"S":"x"})") == "false");
  CHECK(compared("n", "NOT_NULL", "") == "true");
  CHECK(compared("gone", "NULL", "") == "true");

  CHECK(compared("n", "EQ", "") == invalid + "Invalid number of argument(s) for the EQ ComparisonOperator");
  CHECK(compared("n", "BEGINS_WITH", R"({"N":"1"})") ==
        invalid + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type");
  CHECK(compared("n", "CONTAINS", R"({"SS":["a"]})") ==
        invalid + "ComparisonOperator CONTAINS is not valid for SS AttributeValue type");
  CHECK(compared("n", "IN", R"({"S":"b"},{"N":"1"})") ==
        invalid + "AttributeValues inside AttributeValueList must be of same type");
  CHECK(compared("n", "BETWEEN", R"({"S":"b"},{"S":"a"})") ==
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  CHECK(compared("n", "EQ", R"({"N":"x"})") == "The parameter cannot be converted to a numeric value: x");
}

TEST_CASE("a filter of 20000 conditions is evaluated without deep recursion") {
  std::string members = R"("ScanFilter":{)";
  for (int i = 0; i < 20'000; ++i) {
    if (i > 0) members += ',';
    members += "\"a" + std::to_string(i) + R"(":{"ComparisonOperator":"NULL"})";
  }
  CHECK(filter(members + "}") == "true");
}

TEST_CASE("KeyConditions must fit the key schema") {
  const engine::KeySchema schema{{{"p", engine::ScalarType::string}}, {{"c", engine::ScalarType::number}}};
  const std::string p = R"({"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]})";
  const auto with = [&](std::string_view more) {
    return key_conditions(p + std::string(more) + "}", schema);
  };
  CHECK(with("") == "ok");
  CHECK(with(R"(,"c":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"2"}]})") == "ok");
  for (const char* name : {"NE", "CONTAINS", "NOT_CONTAINS", "IN"}) {
    CHECK(with(R"(,"c":{"ComparisonOperator":")" + std::string(name) +
               R"(","AttributeValueList":[{"N":"1"}]})") ==
          "Attempted conditional constraint is not an indexable operation");
  }
  CHECK(with(R"(,"c":{"ComparisonOperator":"NULL"})") ==
        "Attempted conditional constraint is not an indexable operation");
  CHECK(with(R"(,"c":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"1"}]})") ==
        invalid + "Condition parameter type does not match schema type");
  CHECK(with(R"(,"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"1"}]})") ==
        "Query condition missed key schema element: c");
  CHECK(key_conditions(R"({"z":{"ComparisonOperator":"NULL"}})", schema) ==
        "Query condition missed key schema element: p");
  CHECK(key_conditions(R"({"p":{"ComparisonOperator":"LE","AttributeValueList":[{"S":"x"}]}})", schema) ==
        "Query key condition not supported");
  CHECK(key_conditions(R"({"p":{"ComparisonOperator":"EQ","AttributeValueList":[]}})", schema) ==
        invalid + "Invalid number of argument(s) for the EQ ComparisonOperator");
}

TEST_CASE("each action of AttributeUpdates changes the item") {
  CHECK(updated_by_attributes(R"({"a":{"Value":{"S":"x"}},"b":{"Action":"PUT","Value":{"N":"1"}}})",
                              R"({"a":{"N":"0"}})") == R"({"a":{"S":"x"},"b":{"N":"1"}})");
  CHECK(updated_by_attributes(R"({"a":{"Action":"DELETE"},"gone":{"Action":"DELETE"}})",
                              R"({"a":{"N":"0"}})") == "{}");
  CHECK(updated_by_attributes(R"({"a":{"Action":"DELETE","Value":{"NS":["1"]}}})",
                              R"({"a":{"NS":["1","2"]}})") == R"({"a":{"NS":["2"]}})");
  CHECK(updated_by_attributes(
            R"({"a":{"Action":"ADD","Value":{"N":"2"}},"b":{"Action":"ADD","Value":{"N":"3"}}})",
            R"({"a":{"N":"1"}})") == R"({"a":{"N":"3"},"b":{"N":"3"}})");
  CHECK(updated_by_attributes(R"({"a":{"Action":"ADD","Value":{"SS":["y"]}}})", R"({"a":{"SS":["x"]}})") ==
        R"({"a":{"SS":["x","y"]}})");
  // Unlike ADD in an UpdateExpression, this ADD appends to lists.
  CHECK(updated_by_attributes(R"({"a":{"Action":"ADD","Value":{"L":[{"N":"2"}]}}})",
                              R"({"a":{"L":[{"N":"1"}]}})") == R"({"a":{"L":[{"N":"1"},{"N":"2"}]}})");
}

TEST_CASE("AttributeUpdates rejects actions that do not fit the value or the attribute") {
  const char* const old_item = R"({"b":{"SS":["1"]},"c":{"N":"1"},"d":{"NS":["1"]},"e":{"L":[]}})";
  for (const char* updates :
       {R"({"b":{"Action":"DELETE","Value":{"NS":["1"]}}})",
        R"({"c":{"Action":"DELETE","Value":{"NS":["1"]}}})", R"({"b":{"Action":"ADD","Value":{"NS":["1"]}}})",
        R"({"d":{"Action":"ADD","Value":{"N":"1"}}})", R"({"b":{"Action":"ADD","Value":{"L":[]}}})",
        R"({"e":{"Action":"ADD","Value":{"SS":["1"]}}})"}) {
    INFO(updates);
    CHECK(updated_by_attributes(updates, old_item) == "Type mismatch for attribute to update");
  }
  CHECK(updated_by_attributes(R"({"a":{"Action":"PUT"}})", "{}") ==
        invalid + "Only DELETE action is allowed when no attribute value is specified");
  CHECK(updated_by_attributes(R"({"a":{"Action":"DELETE","Value":{"L":[]}}})", "{}") ==
        invalid + "DELETE action with value is not supported for the type L");
  CHECK(updated_by_attributes(R"({"a":{"Action":"ADD","Value":{"B":"Yg=="}}})", "{}") ==
        invalid + "ADD action is not supported for the type B");
}

}  // namespace mayfly::testing
