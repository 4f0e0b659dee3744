// The expected charges were captured on AWS in October 2026.
#include "compat/expression/update_charge.h"

#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

std::size_t charge(std::string_view text) {
  Substitutions substitutions;
  const auto values =
      item(R"({":text":{"S":"12345"},":n":{"N":"12"},":ss":{"SS":["ab","c"]},":list":{"L":[{"S":"ab"}]},
      ":map":{"M":{"key":{"S":"ab"},"k":{"L":[]}}}})");
  for (const auto& [name, value] : values) substitutions.define_value(name, value);
  const auto update = parse_update(text, substitutions);
  INFO(text << ": " << message(update));
  REQUIRE(update);
  return charge_of(*update);
}

}  // namespace

TEST_CASE("an update is charged three bytes plus the charge of each clause") {
  CHECK(charge("SET abc = :text") == 3 + 19 + 3 + 5);
  CHECK(charge("ADD abc :n") == 3 + 19 + 3 + 2);
  CHECK(charge("ADD abc :ss") == 3 + 19 + 3 + 3);
  CHECK(charge("REMOVE abc") == 3 + 1 + 3);
  CHECK(charge("DELETE abc :ss") == 3 + 1 + 3);
  CHECK(charge("SET a = :text, b = :text REMOVE c, d") == 3 + 2 * (19 + 1 + 5) + 2 * (1 + 1));
}

TEST_CASE("an update's charge counts the path elements of targets and operands") {
  CHECK(charge("SET ab.cde = :text") == 3 + 19 + 2 + (4 + 3) + 5);
  CHECK(charge("REMOVE ab[0].c") == 3 + 1 + 2 + (4 + 1) + (4 + 1));
  CHECK(charge("SET a = bc") == 3 + 19 + 1 + (1 + 14 + 2));
  CHECK(charge("SET a = bc.def[0]") == 3 + 19 + 1 + (1 + 14 + 2 + 14 + 3 + 14 + 1));
  // The clause REMOVE l[1] costs 7 bytes: 1 for REMOVE, 1 for the name, 4 for the index and 1 for the index's
  // digit.
  CHECK(charge("REMOVE l[0]") == 3 + 7);
  CHECK(charge("REMOVE l[1]") == 3 + 7);
  CHECK(charge("REMOVE l[9]") == 3 + 7);
  CHECK(charge("REMOVE l[10]") == 3 + 8);
  CHECK(charge("REMOVE l[99]") == 3 + 8);
  CHECK(charge("REMOVE l[100]") == 3 + 9);
  CHECK(charge("REMOVE l[12345]") == 3 + 11);
  CHECK(charge("SET l[10] = m[200]") == 3 + 19 + 1 + (4 + 2) + (1 + 14 + 1 + 14 + 3));
  // Setting an element of a list costs a byte more than setting a list of only that element.
  CHECK(charge("SET a[0] = :text") == charge("SET a = :list") - 2 + 5 + 1);
}

TEST_CASE("an update's charge counts functions with their operands and nested values") {
  CHECK(charge("SET a = b + :n") == 3 + 19 + 1 + 34 + (1 + 14 + 1) + 2);
  CHECK(charge("SET a = b - :n") == 3 + 19 + 1 + 37 + (1 + 14 + 1) + 2);
  CHECK(charge("SET a = list_append(:list, b)") == 3 + 19 + 1 + 37 + (3 + 1 + 2) + (1 + 14 + 1));
  CHECK(charge("SET a = if_not_exists(b, :text)") == 3 + 19 + 1 + 39 + (1 + 14 + 1) + 5);
  CHECK(charge("SET a = :map") == 3 + 19 + 1 + (3 + (1 + 3 + 2) + (1 + 1 + 3)));
}

}  // namespace mayfly::testing
