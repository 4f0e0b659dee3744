// The expected results were measured on AWS by dynalite (test/query.js) and Alternator
// (test_key_condition_expression.py).
#include "compat/expression/key_condition.h"

#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;
using engine::KeySchema;
using engine::ScalarType;

namespace {

const KeySchema partition_only{{{"p", ScalarType::string}}, {}};
const KeySchema with_sort{{{"p", ScalarType::string}}, {{"c", ScalarType::number}}};
const KeySchema binary_sort{{{"p", ScalarType::string}}, {{"c", ScalarType::binary}}};
const KeySchema multiple{{{"p", ScalarType::string}, {"q", ScalarType::number}},
                         {{"x", ScalarType::string}, {"y", ScalarType::number}, {"z", ScalarType::string}}};

Substitutions values() {
  auto out = placeholders();
  out.define_value(":empty", item(R"({"v":{"S":""}})").begin()->value);
  out.define_value(":empty_b", item(R"({"v":{"B":""}})").begin()->value);
  return out;
}

// Returns the condition in a short form, such as p={"S":"s"} c>{"N":"1"}, or the error message.
std::string matched(std::string_view text, const KeySchema& schema) {
  auto substitutions = values();
  auto parsed = parse_condition("KeyConditionExpression", text, substitutions);
  if (!parsed) return parsed.error().message;
  auto predicates = key_predicates(*std::move(parsed));
  if (!predicates) return predicates.error().message;
  const auto condition = match_key_schema(*std::move(predicates), schema);
  if (!condition) return condition.error().message;
  std::string out;
  const auto append = [&](std::string_view attribute, std::string_view comparator,
                          const engine::AttributeValue& value) {
    if (!out.empty()) out += ' ';
    out += attribute;
    out += comparator;
    std::string text_of_value;
    json::Writer writer(text_of_value);
    compat::write_attribute_value(writer, value);
    out += text_of_value;
  };
  for (std::size_t i = 0; i < condition->partition.size(); ++i)
    append(schema.partition()[i].name, "=", condition->partition[i]);
  for (std::size_t i = 0; i < condition->sort_equal.size(); ++i)
    append(schema.sort()[i].name, "=", condition->sort_equal[i]);
  if (condition->sort_range) {
    constexpr const char* names[] = {"=", "<", "<=", ">", ">=", " between ", " begins_with "};
    const KeyPredicate& range = *condition->sort_range;
    append(range.attribute, names[static_cast<int>(range.kind)], *range.low);
    if (range.kind == KeyPredicate::Kind::between) append("and", " ", *range.high);
  }
  return out;
}

}  // namespace

TEST_CASE("a key condition selects a partition and can narrow the sort key") {
  CHECK(matched("p = :s", partition_only) == R"(p={"S":"s"})");
  CHECK(matched(" (:s=p) ", with_sort) == R"(p={"S":"s"})");
  CHECK(matched("c = :n and p = :s", with_sort) == R"(p={"S":"s"} c={"N":"1"})");
  CHECK(matched("((c = :n) AND (p = :s))", with_sort) == R"(p={"S":"s"} c={"N":"1"})");
  CHECK(matched("p = :s and c < :n", with_sort) == R"(p={"S":"s"} c<{"N":"1"})");
  CHECK(matched("p = :s and :n < c", with_sort) == R"(p={"S":"s"} c>{"N":"1"})");
  CHECK(matched("p = :s and :n >= c", with_sort) == R"(p={"S":"s"} c<={"N":"1"})");
  CHECK(matched("p = :s AnD c BeTwEeN :n aNd :m", with_sort) ==
        R"(p={"S":"s"} c between {"N":"1"} and {"N":"2"})");
  CHECK(matched("p = :s and begins_with(c, :b)", binary_sort) == R"(p={"S":"s"} c begins_with {"B":"YQ=="})");
}

TEST_CASE("a key condition that Query does not support is rejected") {
  const std::initializer_list<Wrong> table = {
      {"a > b and size(b) > c or a > c", "Invalid operator used in KeyConditionExpression: OR"},
      {"a in (b, size(c), d)", "Invalid operator used in KeyConditionExpression: IN"},
      {"attribute_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_exists"},
      {"attribute_not_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_not_exists"},
      {"attribute_type(a, :type_n)", "Invalid operator used in KeyConditionExpression: attribute_type"},
      {"contains(a.d, b)", "Invalid operator used in KeyConditionExpression: contains"},
      {"not a > b", "Invalid operator used in KeyConditionExpression: NOT"},
      {"a <> b", "Invalid operator used in KeyConditionExpression: <>"},
      {":s between size(b) and size(a) and b > :b",
       "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its "
       "first "
       "operand"},
      {"begins_with(:s, b) and a > :b",
       "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its "
       "first "
       "operand"},
      {"size(b) > a AND a.b > b AND b > c", "KeyConditionExpressions cannot contain nested operations"},
      {"a > size(b.d)", "KeyConditionExpressions cannot contain nested operations"},
      {"a between size(b) and size(a)", "KeyConditionExpressions cannot contain nested operations"},
      {"b > a.b",
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"b between c[1] and d",
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"a between b and size(a)",
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"begins_with(a, b)",
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"b.d > a AND c.d > e.f", "KeyConditionExpressions cannot have conditions on nested attributes"},
      {"b[0] > a", "KeyConditionExpressions cannot have conditions on nested attributes"},
      {":m > :n AND a < :m", "Invalid condition in KeyConditionExpression: No key attribute specified"},
      {"b > :n AND b < :n and c = :n and d = :n",
       "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
      {"(a > :n and b > :n) and (b > :n and c > :n)",
       "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
      {"a between :t and :s",
       "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
       "equal to lower "
       "bound; lower bound operand: AttributeValue: {S:t}, upper bound operand: AttributeValue: {S:s}"},
      {"", "Invalid KeyConditionExpression: The expression can not be empty;"},
      {"p", R"x(Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "p")x"},
      {"p=:s AND BEGINS_WITH(c,:s)",
       "Invalid KeyConditionExpression: Invalid function name; function: BEGINS_WITH"},
      {"p=:s AND begins_with(c, :n)",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
       "function: "
       "begins_with, operand type: N"},
  };
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(matched(row.expression, with_sort) == row.message);
  }
}

TEST_CASE("a key condition must fit the key schema") {
  CHECK(matched("c = :n", with_sort) == "Query condition missed key schema element: p");
  CHECK(matched("p = :s and d = :n", with_sort) == "Query condition missed key schema element: c");
  CHECK(matched("p < :s", with_sort) == "Query key condition not supported");
  CHECK(matched("p = :s and c = :n", partition_only) == "Query key condition not supported");
  CHECK(matched("a > :n and b > :n and c > :n", with_sort) ==
        "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)");
  const char* const wrong_type =
      "One or more parameter values were invalid: Condition parameter type does not match schema type";
  CHECK(matched("p = :n", with_sort) == wrong_type);
  CHECK(matched("p = :s and c = :s", with_sort) == wrong_type);
  CHECK(matched("p = :bool", with_sort) == wrong_type);
  CHECK(matched("p = :empty", with_sort) ==
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        "an empty "
        "string value. Key: p");
  CHECK(matched("p = :s and c = :empty_b", binary_sort) ==
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        "an empty "
        "binary value. Key: c");
}

TEST_CASE("a multi-attribute key condition has all partition attributes and only leading sort attributes") {
  CHECK(matched("q = :n and p = :s", multiple) == R"(p={"S":"s"} q={"N":"1"})");
  CHECK(matched("p = :s and q = :n and x = :s", multiple) == R"(p={"S":"s"} q={"N":"1"} x={"S":"s"})");
  CHECK(matched("p = :s and q = :n and y > :n and x = :t", multiple) ==
        R"(p={"S":"s"} q={"N":"1"} x={"S":"t"} y>{"N":"1"})");
  CHECK(matched("p = :s and q = :n and x = :s and y = :m and begins_with(z, :t)", multiple) ==
        R"(p={"S":"s"} q={"N":"1"} x={"S":"s"} y={"N":"2"} z begins_with {"S":"t"})");
  for (const char* text :
       {"p = :s", "p = :s and q > :n", "p = :s and q between :n and :m", "x = :s and y = :n"}) {
    INFO(text);
    CHECK_THAT(matched(text, multiple),
               Catch::StartsWith("Query key condition not supported: each HASH key attribute "
                                 "must have an equality condition; attribute: "));
  }
  const auto gap = [](const std::string& without, const std::string& with) {
    return "RANGE key attributes " + without +
           " must have equality conditions specified in the query because a condition is present on key "
           "attribute " +
           with;
  };
  CHECK(matched("p = :s and q = :n and y = :n", multiple) == gap("x", "y"));
  CHECK(matched("p = :s and q = :n and x > :s and y = :n", multiple) == gap("x", "y"));
  CHECK(matched("p = :s and q = :n and x = :s and z = :s", multiple) == gap("y", "z"));
  CHECK(matched("p = :s and q = :n and z = :s", multiple) == gap("x, y", "z"));
  CHECK(matched("p = :s and q = :n and elsewhere = :n", multiple) == "Query key condition not supported");
  CHECK(matched("p = :n and q = :n", multiple) ==
        "One or more parameter values were invalid: Condition parameter type does not match schema type");
}

}  // namespace mayfly::testing
