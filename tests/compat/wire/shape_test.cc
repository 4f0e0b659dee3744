#include "compat/wire/shape.h"

#include <catch2/catch.hpp>

#include "compat/dispatch.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::testing {

using namespace compat;

namespace {

// Returns the error message, or "" if there is no error.
std::string message_of(const Result<void>& result) { return result ? "" : result.error().message; }

std::string types(const Shape& shape, std::string_view request) {
  const auto document = json::parse(request);
  REQUIRE(document != nullptr);
  return message_of(check_types(shape, document->root()));
}

std::string constraints(const Shape& shape, std::string_view request, Frame frame = Frame::older) {
  const auto document = json::parse(request);
  REQUIRE(document != nullptr);
  REQUIRE(types(shape, request) == "");
  return message_of(check_constraints(shape, document->root(), frame));
}

constexpr Shape texts = list_of(shapes::any_string, 1, 3);
constexpr Shape text_map = map_of(shapes::any_string);
constexpr Member inner_members[] = {{"Name", &shapes::any_string, required},
                                    {"Count", &shapes::positive_integer}};
constexpr Shape inner = structure("Inner", inner_members);
constexpr Shape inners = list_of(inner);
constexpr Shape inner_map = map_of(inner);
constexpr Shape few_inners = list_of(inner, 1, 2);
constexpr Shape inners_by_table = map_of(few_inners, &shapes::table_name, 1);
constexpr Shape blob{.type = Shape::Type::blob};
constexpr Member outer_members[] = {
    {"TableName", &shapes::table_name},
    {"Flag", &shapes::boolean},
    {"Limit", &shapes::positive_integer},
    {"Size", &shapes::any_long},
    {"Data", &blob},
    {"Texts", &texts},
    {"TextMap", &text_map},
    {"Inner", &inner},
    {"Inners", &inners},
    {"InnerMap", &inner_map},
    {"Requests", &inners_by_table},
    {"Value", &shapes::attribute_value},
    {"Item", &shapes::attribute_map},
    {"Keys", &shapes::attribute_names},
    {"Select", &shapes::select},
};
constexpr Shape outer = structure("OuterInput", outer_members);

constexpr const char* cast_error =
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module "
    "java.base of "
    "loader 'bootstrap')";

TEST_CASE("a scalar of the wrong type gets the same error as from DynamoDB's JSON reader") {
  CHECK(types(outer, R"({"TableName":23})") == "NUMBER_VALUE cannot be converted to String");
  CHECK(types(outer, R"({"TableName":34.56})") == "DECIMAL_VALUE cannot be converted to String");
  CHECK(types(outer, R"({"TableName":true})") == "TRUE_VALUE cannot be converted to String");
  CHECK(types(outer, R"({"TableName":[]})") == "Unrecognized collection type class java.lang.String");
  CHECK(types(outer, R"({"TableName":{}})") == "Start of structure or map found where not expected");
  CHECK(types(outer, R"({"Flag":"23"})") == "Unexpected token received from parser");
  CHECK(types(outer, R"({"Flag":0})") == "NUMBER_VALUE cannot be converted to Boolean");
  CHECK(types(outer, R"({"Flag":"yes"})") == "");
  CHECK(types(outer, R"({"Limit":"23"})") == "STRING_VALUE cannot be converted to Integer");
  CHECK(types(outer, R"({"Limit":2147483648})") == "2147483648 cannot be converted to Integer");
  CHECK(types(outer, R"({"Limit":1.5})") == "");
  CHECK(types(outer, R"({"Size":false})") == "FALSE_VALUE cannot be converted to Long");
  CHECK(types(outer, R"({"Size":2147483648})") == "");
}

TEST_CASE("a blob must be padded base64 without leftover bits") {
  CHECK(types(outer, R"({"Data":"YWJj"})") == "");
  CHECK(types(outer, R"({"Data":""})") == "");
  CHECK(types(outer, R"({"Data":"YQ=="})") == "");
  CHECK(types(outer, R"({"Data":true})") == "only base-64-encoded strings are convertible to bytes");
  CHECK(types(outer, R"({"Data":[]})") == "Unrecognized collection type class java.nio.ByteBuffer");
  CHECK(types(outer, R"({"Data":"23456"})") ==
        "Base64 encoded length is expected a multiple of 4 bytes but found: 5");
  CHECK(types(outer, R"({"Data":"=+/="})") == "Invalid last non-pad Base64 character dectected");
  CHECK(types(outer, R"({"Data":"+/+="})") == "Invalid last non-pad Base64 character dectected");
  CHECK(types(outer, R"({"Data":"YWJ?"})") == "Invalid last non-pad Base64 character dectected");
}

TEST_CASE("the error for a collection of the wrong type depends on the expected type") {
  CHECK(types(outer, R"({"Texts":"a"})") == "Unexpected field type");
  CHECK(types(outer, R"({"Texts":{}})") == "Start of structure or map found where not expected");
  CHECK(types(outer, R"({"TextMap":1})") == "Unexpected field type");
  CHECK(types(outer, R"({"TextMap":[]})") ==
        "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>");
  CHECK(
      types(outer, R"({"InnerMap":[]})") ==
      "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.Inner>");
  CHECK(types(outer, R"({"Requests":[]})") ==
        "Unrecognized collection type java.util.Map<java.lang.String, "
        "java.util.List<com.amazonaws.dynamodb.v20120810.Inner>>");
  CHECK(types(outer, R"({"Inner":"a"})") == "Unexpected field type");
  CHECK(types(outer, R"({"Inners":["a"]})") == "Unexpected value type in payload");
  CHECK(types(outer, R"({"Inners":[[]]})") ==
        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Inner");
  CHECK(types(outer, R"({"Requests":{"abc":"a"}})") == cast_error);
  CHECK(types(outer, R"({"Requests":{"abc":{}}})") == "Start of structure or map found where not expected");
}

TEST_CASE("attribute values are checked at every depth") {
  CHECK(types(outer, R"({"Value":"a"})") == "Unexpected field type");
  CHECK(types(outer, R"({"Item":{"a":"a"}})") == "Unexpected value type in payload");
  CHECK(types(outer, R"({"Item":{"a":{"S":1}}})") == "NUMBER_VALUE cannot be converted to String");
  CHECK(types(outer, R"({"Item":{"a":{"NULL":"no way"}}})") == "Unexpected token received from parser");
  CHECK(types(outer, R"({"Item":{"a":{"L":[{"M":{"b":{"BS":["a"]}}}]}}})") ==
        "Base64 encoded length is expected a multiple of 4 bytes but found: 1");
  CHECK(types(outer, R"({"Item":{"a":{"M":[]}}})") ==
        "Unrecognized collection type java.util.Map<java.lang.String, "
        "com.amazonaws.dynamodb.v20120810.AttributeValue>");
  CHECK(types(outer, R"({"Item":{"a":{"dog":1}}})") == "");
  for (const std::string of : {"S", "N"}) {
    std::string value = "{\"" + of + "\":1}";
    for (int depth = 0; depth < 9; ++depth) {
      CHECK(types(outer, "{\"Item\":{\"a\":" + value + "}}") == "NUMBER_VALUE cannot be converted to String");
      value = depth % 2 == 0 ? "{\"L\":[{\"S\":\"\"}," + value + "]}" : "{\"M\":{\"b\":" + value + "}}";
    }
  }
  CHECK(types(outer, R"({"Item":{"a":{"SS":["a",1]}}})") == "NUMBER_VALUE cannot be converted to String");
  CHECK(types(outer, R"({"Item":{"a":{"L":[{"BOOL":1}]}}})") ==
        "NUMBER_VALUE cannot be converted to Boolean");
}

TEST_CASE("null counts as absent and undeclared members are ignored") {
  CHECK(types(outer, R"({"TableName":null,"Limit":null,"Nonsense":[{}]})") == "");
  CHECK(constraints(outer, R"({"TableName":null})") == "");
  CHECK(types(outer, "[]") ==
        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.OuterInput");
}

TEST_CASE("an error about one violated constraint quotes the value and the member") {
  CHECK(constraints(outer, R"({"Limit":0})") ==
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have "
        "value "
        "greater than or equal to 1");
  CHECK(constraints(outer, R"({"Select":"ALL"})") ==
        "1 validation error detected: Value 'ALL' at 'select' failed to satisfy constraint: Member must "
        "satisfy enum "
        "value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]");
  CHECK(constraints(outer, R"({"Texts":["a","b","c","d"]})") ==
        "1 validation error detected: Value '[a, b, c, d]' at 'texts' failed to satisfy constraint: Member "
        "must have "
        "length less than or equal to 3");
  CHECK(constraints(outer, R"({"Inners":[{"Name":"a"},{"Count":1}]})") ==
        "1 validation error detected: Value null at 'inners.2.member.name' failed to satisfy constraint: "
        "Member must "
        "not be null");
  CHECK(constraints(outer, R"({"InnerMap":{"x":{}}})") ==
        "1 validation error detected: Value null at 'innerMap.x.member.name' failed to satisfy constraint: "
        "Member "
        "must not be null");
}

TEST_CASE("at most ten violated constraints are reported in the order of declaration") {
  CHECK(constraints(outer, R"({"Limit":0,"TableName":"a;"})") ==
        "3 validation errors detected: Value 'a;' at 'tableName' failed to satisfy constraint: Member must "
        "satisfy "
        "regular expression pattern: [a-zA-Z0-9_.-]+; Value 'a;' at 'tableName' failed to satisfy "
        "constraint: Member "
        "must have length greater than or equal to 3; Value '0' at 'limit' failed to satisfy constraint: "
        "Member must "
        "have value greater than or equal to 1");
  std::string many = R"({"Inners":[)";
  for (int i = 0; i < 12; ++i) many += i == 0 ? "{}" : ",{}";
  CHECK(constraints(outer, many + "]}").substr(0, 31) == "10 validation errors detected: ");
}

TEST_CASE("invalid keys and invalid value lengths in a map are reported once") {
  CHECK(constraints(outer, R"({"Requests":{"a":[]}})") ==
        "2 validation errors detected: Value '{a=[]}' at 'requests' failed to satisfy constraint: Map keys "
        "must "
        "satisfy constraint: [Member must have length less than or equal to 255, Member must have length "
        "greater than "
        "or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]; Value '{a=[]}' at "
        "'requests' "
        "failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than "
        "or equal "
        "to 2, Member must have length greater than or equal to 1]");
  CHECK(constraints(outer, R"({"Requests":{"abc":[{}]}})") ==
        "1 validation error detected: Value null at 'requests.abc.member.1.member.name' failed to satisfy "
        "constraint: "
        "Member must not be null");
}

TEST_CASE("a table's ARN is accepted in place of its name") {
  CHECK(constraints(outer, R"({"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/abc"})") == "");
  CHECK(constraints(outer,
                    R"({"Requests":{"arn:aws:dynamodb:us-east-1:000000000000:table/abc":[{"Name":"a"}]}})") ==
        "");
}

TEST_CASE("length and range errors of the new front end use the model's names and omit the value") {
  for (const Frame frame : {Frame::model, Frame::bare, Frame::enveloped}) {
    CHECK(
        constraints(outer, R"({"Limit":0})", frame) ==
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value "
        "greater than or equal to 1");
    CHECK(
        constraints(outer, R"({"Inners":[{"Name":"a"},{"Name":"b","Count":0}]})", frame) ==
        "1 validation error detected: Value at 'Inners.2.member.Count' failed to satisfy constraint: Member "
        "must have value greater than or equal to 1");
    CHECK(constraints(outer, R"({"TableName":""})", frame) ==
          "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have "
          "length greater than or equal to 1");
    CHECK(constraints(outer, R"({"TableName":"ab"})", frame) ==
          "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must "
          "have length greater than or equal to 3");
    CHECK(
        constraints(outer, R"({"Select":"ALL","Inners":[{}]})", frame) ==
        "2 validation errors detected: Value null at 'inners.1.member.name' failed to satisfy constraint: "
        "Member must not be null; Value 'ALL' at 'select' failed to satisfy constraint: Member must satisfy "
        "enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]");
  }
}

TEST_CASE("errors about values of some enum types do not name the member") {
  static constexpr Member members[] = {{"Limit", &shapes::positive_integer},
                                       {"ConditionalOperator", &shapes::conditional_operator}};
  static constexpr Shape shape = structure("Some", members);
  const char* const request = R"({"Limit":0,"ConditionalOperator":"XOR"})";
  const std::string unnamed = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]";
  for (const Frame frame : {Frame::bare, Frame::enveloped}) {
    CHECK(
        constraints(shape, request, frame) ==
        "2 validation errors detected: Value at 'Limit' failed to satisfy constraint: Member must have value "
        "greater than or equal to 1; " +
            unnamed);
  }
  CHECK(constraints(shape, R"({"ConditionalOperator":"XOR"})", Frame::model) ==
        "1 validation error detected: Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: "
        "Member must satisfy enum value set: [OR, AND]");
}

TEST_CASE(
    "an error in a member that is marked as stopping is the only error that the new front end reports") {
  static constexpr Member members[] = {
      {"Select", &shapes::select},
      stopping({"TableName", &shapes::table_name}),
      stopping({"ConditionalOperator", &shapes::conditional_operator}),
  };
  static constexpr Shape shape = structure("Some", members);
  const std::string detected = "1 validation error detected: ";
  const std::string short_name =
      "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1";
  const std::string unnamed = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]";
  const char* const all = R"({"Select":"a","TableName":"","ConditionalOperator":"XOR"})";
  CHECK(constraints(shape, all, Frame::bare) == detected + short_name);
  CHECK(constraints(shape, all, Frame::enveloped) == detected + short_name);
  const char* const enums = R"({"Select":"a","ConditionalOperator":"XOR"})";
  CHECK(constraints(shape, enums, Frame::bare) == unnamed);
  CHECK(constraints(shape, enums, Frame::enveloped) == detected + unnamed);
  // The error for a value that does not match its pattern has the old front end's wording, and the other
  // errors are reported as well.
  CHECK_THAT(constraints(shape, R"({"Select":"a","TableName":"ab;"})", Frame::enveloped),
             Catch::StartsWith("2 validation errors detected: Value 'a' at 'select'"));
  CHECK_THAT(constraints(shape, enums, Frame::older), Catch::StartsWith("2 validation errors detected: "));
  CHECK_THAT(constraints(shape, enums, Frame::handed_over),
             Catch::StartsWith("2 validation errors detected: "));
}

TEST_CASE("a request that lacks a required member gets the old front end's errors") {
  static constexpr Member members[] = {
      stopping({"TableName", &shapes::table_name, required}),
      {"Limit", &shapes::positive_integer},
      stopping({"ConditionalOperator", &shapes::conditional_operator}),
      {"Inner", &inner},
  };
  static constexpr Shape shape = structure("Some", members);
  for (const Frame frame : {Frame::handed_over, Frame::model, Frame::bare, Frame::enveloped}) {
    CHECK(constraints(shape, R"({"TableName":"","Limit":0,"ConditionalOperator":"XOR","Inner":{}})", frame) ==
          "4 validation errors detected: Value '' at 'tableName' failed to satisfy constraint: Member must "
          "have "
          "length greater than or equal to 1; Value '0' at 'limit' failed to satisfy constraint: Member must "
          "have "
          "value greater than or equal to 1; Value 'XOR' at 'conditionalOperator' failed to satisfy "
          "constraint: "
          "Member must satisfy enum value set: [OR, AND]; Value null at 'inner.name' failed to satisfy "
          "constraint: Member must not be null");
  }
  CHECK_THAT(constraints(shape, R"({"TableName":""})"),
             Catch::StartsWith("2 validation errors detected: Value '' at 'tableName' failed to satisfy "
                               "constraint: Member must satisfy regular expression pattern"));
}

TEST_CASE(
    "a request whose arrays and objects nest more than 127 levels deep gets the old front end's errors") {
  CHECK(frame_at_depth(Frame::enveloped, 127) == Frame::enveloped);
  CHECK(frame_at_depth(Frame::enveloped, 128) == Frame::handed_over);
  CHECK(frame_at_depth(Frame::model, 600) == Frame::handed_over);
  CHECK(frame_at_depth(Frame::older, 600) == Frame::older);
}

TEST_CASE(
    "errors in the older wording print collections as Java does and errors in the newer wording print JSON") {
  const char* const request = R"({"Requests":{"a":[{"Count":1,"Name":"b"}]}})";
  CHECK_THAT(constraints(outer, request),
             Catch::Contains("Value '{a=[Inner(name=b, count=1)]}' at 'requests'"));
  CHECK_THAT(constraints(outer, request, Frame::bare),
             Catch::Contains(R"(Value '{"a":[{"Count":1,"Name":"b"}]}' at 'requests')"));
}

TEST_CASE("errors print all members of a structure in Java's order and print attribute values as hashes") {
  static constexpr std::string_view printed[] = {"Item", "Extra", "Note"};
  static constexpr Member put_members[] = {{"Note", &shapes::any_string}, {"Item", &shapes::attribute_map}};
  static constexpr Shape put = printed_as(structure("Put", put_members), printed);
  static constexpr Shape puts = list_of(put, 3);
  static constexpr Member members[] = {{"Puts", &puts}};
  static constexpr Shape shape = structure("Some", members);
  const std::string message = constraints(
      shape, R"({"Puts":[{"Item":{"a":{"S":"x"},"b":{"S":"x"}}},{"Note":"n","Item":{"a":{"S":"y"}}}]})");
  const std::string value = "com\\.amazonaws\\.dynamodb\\.v20120810\\.AttributeValue@";
  CHECK_THAT(message, Catch::Matches("1 validation error detected: Value '\\[Put\\(item=\\{a=" + value +
                                     "([0-9a-f]{1,8}), b=" + value +
                                     "\\1\\}, extra=null, note=null\\), Put\\(item=\\{a=" + value +
                                     "(?!\\1\\})[0-9a-f]{1,8}\\}, extra=null, note=n\\)\\]' at 'puts' .*"));
}

TEST_CASE("the length of a string is measured in UTF-16 code units") {
  // The name has two characters but three UTF-16 units, so it is long enough.
  CHECK(constraints(outer, R"({"TableName":"\uD83D\uDE00a"})") ==
        "1 validation error detected: Value '\xF0\x9F\x98\x80"
        "a' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
        "[a-zA-Z0-9_.-]+");
}

}  // namespace

}  // namespace mayfly::testing
