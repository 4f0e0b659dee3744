// What is cut and parsed; what statements do is in tests/scripts/execute_statement.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compat/partiql/lexer.h"
#include "compat/partiql/parser.h"

namespace mayfly::compat::partiql {
namespace {

std::string refusal(const std::string& text) {
  auto statement = parse(text, {});
  return statement ? "" : statement.error().message;
}

TEST_CASE("tokens keep what quotes protect, and comments are none") {
  std::string joined;
  for (const Token& token : tokenize("SELECT \"a \"\"b\" -- to the end\nFROM t WHERE x<>'it''s' AND y>=-1.5e3")) {
    joined += token.text + "|";
  }
  CHECK(joined == "SELECT|a \"b|FROM|t|WHERE|x|<>|it's|AND|y|>=|-|1.5e3||");
}

TEST_CASE("a quote that is not closed, and what no token begins with, is refused") {
  CHECK(refusal("SELECT * FROM t WHERE a = 'x") ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
  CHECK(refusal("SELECT * FROM t WHERE a = ~") ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
}

TEST_CASE("keywords are no names unless they are quoted") {
  CHECK(refusal("SELECT order FROM t") == "Statement wasn't well formed, can't be processed: Unexpected keyword");
  CHECK(refusal("SELECT \"order\" FROM t").empty());
}

TEST_CASE("AND binds tighter than OR, NOT tighter than both") {
  auto statement = parse("SELECT * FROM t WHERE NOT a = 1 AND b = 2 OR c = 3", {});
  REQUIRE(statement);
  const auto& where = *std::get<Select>(*statement).where;
  const auto* either = std::get_if<expression::Or>(&where.node);
  REQUIRE(either != nullptr);
  const auto* both = std::get_if<expression::And>(&either->left->node);
  REQUIRE(both != nullptr);
  CHECK(std::holds_alternative<expression::Not>(both->left->node));
}

TEST_CASE("statements nested without end are refused, not followed") {
  CHECK(refusal("SELECT * FROM t WHERE " + std::string(8000, '(')) ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
  CHECK(refusal("INSERT INTO t VALUE {'a':" + std::string(8000, '[')) ==
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
        "limit");
}

TEST_CASE("sets are of one type, and not empty") {
  CHECK(refusal("INSERT INTO t VALUE {'a':<<1,'b'>>}") ==
        "One or more parameter values were invalid: Sets must be of one type");
  CHECK(refusal("INSERT INTO t VALUE {'a':<<1,1.0>>}") ==
        "One or more parameter values were invalid: Input collection contains duplicates.");
  CHECK(refusal("INSERT INTO t VALUE {'a':<<>>}") ==
        "One or more parameter values were invalid: An empty set is not allowed");
}

TEST_CASE("numbers have DynamoDB's limits") {
  CHECK(refusal("SELECT * FROM t WHERE a = 1e126") ==
        "Number overflow. Attempting to store a number with magnitude larger than supported range");
}

}  // namespace
}  // namespace mayfly::compat::partiql
