// Tests how statements are split into tokens and parsed. tests/scripts/execute_statement tests what
// statements do.
#include "compat/partiql/parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compat/partiql/lexer.h"

namespace mayfly::testing {

using namespace compat;
using namespace compat::partiql;

namespace {

std::string repeated_times(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string refusal(const std::string& text) {
  auto statement = parse(text, {});
  return statement ? "" : statement.error().message;
}

TEST_CASE("quoted text stays within its token and comments are skipped") {
  std::string joined;
  for (const Token& token :
       tokenize("SELECT \"a \"\"b\" -- to the end\nFROM t WHERE x<>'it''s' AND y>=-1.5e3")) {
    joined += token.text + "|";
  }
  CHECK(joined == "SELECT|a \"b|FROM|t|WHERE|x|<>|it's|AND|y|>=|-|1.5e3||");
}

TEST_CASE("unclosed quotes and invalid tokens are rejected with an error that gives no reason") {
  for (const char* text : {"SELECT * FROM t WHERE a = 'x", "SELECT \"x FROM t", "SELECT * FROM t WHERE a = ~",
                           "SELECT * FROM t WHERE a = 1e", "SELECT * FROM t WHERE a = 1e-b", "nonsense #",
                           "SELECT * FROM t WHERE a | b", "SELECT ! FROM t"}) {
    INFO(text);
    CHECK(refusal(text) == "Statement wasn't well formed, can't be processed: ");
  }
}

TEST_CASE("comments count as whitespace and an unclosed comment is rejected") {
  CHECK(refusal("SELECT/**/* FROM t -- all\nWHERE a/* b */=1;--").empty());
  CHECK(refusal("SELECT * FROM t /* open") == "Statement wasn't well formed, can't be processed: ");
  CHECK(refusal("UPDATE t SET a = a--1") == "");  // --1 is a comment
}

TEST_CASE("an error message ends with the position in the statement") {
  // A position consists of a line, a column and a length.
  CHECK(refusal("UPDATE t\n SET a = set_add(\"b\", <<1>>)") ==
        "The first argument to SET_ADD must equal the assignment value at 2:10:7");
  CHECK(refusal("UPDATE t\n SET a = set_delete(\"a\", [1])") ==
        "The second argument to SET_DELETE must be a value with type SET at 2:21:3");
  CHECK(refusal("SELECT l[-1] FROM t") ==
        "List index is not within the allowable range; index: [-1] at 1:11:1");
  CHECK(refusal("SELECT l[2147483648] FROM t") ==
        "List index is not within the allowable range; index: [2147483648] at 1:10:10");
  CHECK(refusal("SELECT l[-0], l[2147483647] FROM t").empty());
  CHECK(refusal("UPDATE t SET a = [?]") == "Unsupported data type: Parameter under key root[0] at 1:19:1");
  CHECK(refusal("INSERT INTO t VALUE {'m':{'k':?}}") ==
        "Unsupported data type: Parameter under key root.k at 1:31:1");
  CHECK(refusal("SELECT * FROM t LIMIT 10") == "Unsupported clause: LIMIT at 1:23:2");
  // Columns and lengths count code points. A line ends with CR, LF or both.
  CHECK(refusal("SELECT \"\xc3\xa9\", 1 FROM t") == "Unexpected path component at 1:13:1");
  CHECK(refusal("SELECT \r\n\r \n 'caf\xc3\xa9' FROM t") == "Unexpected path component at 4:2:6");
}

TEST_CASE("operators have PartiQL's precedence") {
  const auto where = [](const std::string& text) {
    auto statement = parse("SELECT * FROM t WHERE " + text, {});
    INFO(text << ": " << (statement ? "" : statement.error().message));
    REQUIRE(statement);
    return *std::move(std::get<Select>(*statement).where);
  };
  CHECK(std::holds_alternative<expression::Not>(where("NOT a = 1").node));
  CHECK(std::holds_alternative<expression::And>(where("a BETWEEN 1 AND 2 AND b = 3").node));
  CHECK(std::holds_alternative<expression::Not>(where("a NOT IN (1, 2)").node));
  CHECK(std::holds_alternative<expression::Not>(where("a IS NOT NULL").node));
  // < binds tighter than =, so the result of a < 1 is compared with false.
  CHECK(std::holds_alternative<expression::Not>(where("a < 1 = false").node));
  CHECK(std::holds_alternative<expression::Or>(where("a = 1 AND b = 2 OR c = 3 AND d = 4").node));
}

TEST_CASE("a keyword is accepted as a name only if it is quoted") {
  CHECK(refusal("SELECT order FROM t") ==
        "Statement wasn't well formed, can't be processed: Unexpected keyword");
  CHECK(refusal("SELECT \"order\" FROM t").empty());
}

TEST_CASE("NOT binds tighter than AND and AND binds tighter than OR") {
  auto statement = parse("SELECT * FROM t WHERE NOT a = 1 AND b = 2 OR c = 3", {});
  REQUIRE(statement);
  const auto& where = *std::get<Select>(*statement).where;
  const auto* either = std::get_if<expression::Or>(&where.node);
  REQUIRE(either != nullptr);
  const auto* both = std::get_if<expression::And>(&either->left->node);
  REQUIRE(both != nullptr);
  CHECK(std::holds_alternative<expression::Not>(both->left->node));
}

TEST_CASE("deeply nested statements are rejected without deep recursion") {
  CHECK(refusal("SELECT * FROM t WHERE " + std::string(8000, '(')) ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
  CHECK(refusal("INSERT INTO t VALUE {'a':" + std::string(8000, '[')) ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
  CHECK(refusal("INSERT INTO t VALUE {'a':" + std::string(40, '[') + std::string(40, ']') + "}") ==
        "Nesting Levels have exceeded supported limits under root" + repeated_times("[0]", 32));
  CHECK(refusal("UPDATE t SET a = {'b':" + repeated_times("{'c':", 31) + "1" + std::string(32, '}')) ==
        "Nesting Levels have exceeded supported limits under root.b" + repeated_times(".c", 31));
  CHECK(refusal("UPDATE t SET a = {'b':" + repeated_times("{'c':", 30) + "1" + std::string(31, '}')).empty());
  CHECK(refusal("UPDATE t SET a = 1" + repeated_times(" + 1", 1900)) ==
        "Statement wasn't well formed, can't be processed: Unexpected term");
}

TEST_CASE("an empty set and a set with duplicates and a set of mixed types are rejected") {
  CHECK(refusal("INSERT INTO t VALUE {'a':<<1,'b'>>}") ==
        "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
  CHECK(
      refusal("INSERT INTO t VALUE {'a':<<1,1.0>>}") ==
      "One or more parameter values were invalid: Input collection [1, 1.0] contains duplicates! under root");
  CHECK(refusal("INSERT INTO t VALUE {'a':[<<'x','x'>>]}") ==
        "One or more parameter values were invalid: Input collection [x, x] contains duplicates.");
  CHECK(refusal("INSERT INTO t VALUE {'a':<<>>}") == "Empty bags are not supported");
}

TEST_CASE("numbers outside DynamoDB's range are rejected") {
  CHECK(
      refusal("SELECT * FROM t WHERE a = 1e126") ==
      "Number overflow. Attempting to store a number with magnitude larger than supported range under root");
}

}  // namespace

}  // namespace mayfly::testing
