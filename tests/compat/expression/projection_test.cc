// The expected results were measured on AWS by dynalite (test/getItem.js) and Alternator
// (test_projection_expression.py).
#include "compat/expression/projection.h"

#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

std::string projection_error(std::string_view text) {
  auto substitutions = placeholders();
  return message(parse_projection(text, substitutions));
}

std::string projected(std::string_view text) {
  const auto full = item(R"({
    "a":{"M":{"b":{"S":"x"},"c":{"L":[{"N":"0"},{"N":"1"},{"M":{"d":{"N":"2"},"e":{"N":"3"}}},{"L":[{"N":"4"}]}]}}},
    "b":{"N":"5"}, "[3]":{"S":"odd"}, "d":{"SS":["s"]}})");
  auto substitutions = placeholders();
  const auto projection = parse_projection(text, substitutions);
  REQUIRE(projection);
  return text_of(project(*projection, full));
}

}  // namespace

TEST_CASE("a projection returns the named parts of an item and closes gaps in lists") {
  CHECK(projected("b") == R"({"b":{"N":"5"}})");
  CHECK(projected("b, d, gone") == R"({"b":{"N":"5"},"d":{"SS":["s"]}})");
  CHECK(projected("#three") == R"({"[3]":{"S":"odd"}})");
  CHECK(projected("a.b") == R"({"a":{"M":{"b":{"S":"x"}}}})");
  CHECK(projected("a.c[1]") == R"({"a":{"M":{"c":{"L":[{"N":"1"}]}}}})");
  CHECK(projected("a.c[2].e, a.c[0], #a.b") ==
        R"({"a":{"M":{"b":{"S":"x"},"c":{"L":[{"N":"0"},{"M":{"e":{"N":"3"}}}]}}}})");
  CHECK(projected("a.c[2].e, a.c[2].d, a.c[3][0]") ==
        R"({"a":{"M":{"c":{"L":[{"M":{"d":{"N":"2"},"e":{"N":"3"}}},{"L":[{"N":"4"}]}]}}}})");
}

TEST_CASE("a path that does not exist adds nothing to the result") {
  for (const char* text :
       {"gone", "a.x", "a.x.y", "a[0]", "a.c.x", "a.c[99]", "b.x", "b[0]", "d[0]", "gone.x, a.c[2].x"}) {
    INFO(text);
    CHECK(projected(text) == "{}");
  }
}

TEST_CASE("invalid projections get AWS's errors") {
  const std::initializer_list<Wrong> table = {
      {"", "The expression can not be empty;"},
      {"whatever(stuff)", R"x(Syntax error; token: "(", near: "whatever(stuff")x"},
      {":a", R"x(Syntax error; token: ":a", near: ":a")x"},
      {"abort,", R"x(Syntax error; token: "<EOF>", near: ",")x"},
      {"a,,b", R"x(Syntax error; token: ",", near: ",,b")x"},
      {"a..b", R"x(Syntax error; token: ".", near: "..b")x"},
      {"a[b]", R"x(Syntax error; token: "b", near: "[b]")x"},
      {"(a.b).c", R"x(Syntax error; token: "(", near: "(a")x"},
      {"a-b", R"x(Syntax error; token: "-", near: "a-b")x"},
      {"!!!", R"x(Syntax error; token: "!", near: "!!")x"},
      {"a.abORt", "Attribute name is a reserved keyword; reserved keyword: abORt"},
      {"#e,ABSoLUTE", "Attribute name is a reserved keyword; reserved keyword: ABSoLUTE"},
      {"a[99999999999999]", "List index is not within the allowable range; index: [99999999999999]"},
      {"a,b,a,#e",
       "An expression attribute name used in the document path is not defined; attribute name: #e"},
      {"b[1], b.a, #a.b, a",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, "
       "b], path "
       "two: [a]"},
      {"a, #a[1]",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
       "[a], path "
       "two: [a, [1]]"},
      {"a.b, #a[1], #three",
       "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
       "[a, b], path "
       "two: [a, [1]]"},
      {"a[3].b, #a.#three.b",
       "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
       "[a, [3], b], "
       "path two: [a, [3], b]"},
  };
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(projection_error(row.expression) == "Invalid ProjectionExpression: " + std::string(row.message));
  }
}

TEST_CASE("a path has at most 32 levels") {
  std::string path = "a";
  for (int i = 1; i < 32; ++i) path += ".b";
  CHECK(projection_error(path).empty());
  CHECK(projection_error(path + ".b") ==
        "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33");
}

}  // namespace mayfly::testing
