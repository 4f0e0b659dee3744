#include "compat/syntax/lexer.h"

#include <catch2/catch.hpp>

#include "compat/syntax/reserved_words.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

std::string cut(std::string_view text) {
  std::string out;
  for (const Token& token : tokenize(text)) {
    if (token.kind == Token::Kind::end) break;
    if (!out.empty()) out += '|';
    out += token.text;
  }
  return out;
}

}  // namespace

TEST_CASE("an expression is split into tokens") {
  CHECK(cut("#a[1]>=:v") == "#a|[|1|]|>=|:v");
  CHECK(cut(" a.b_1 <> #2 AND\tNOT\r\n(x<y)") == "a|.|b_1|<>|#2|AND|NOT|(|x|<|y|)");
  CHECK(cut("_abc") == "_|abc");
  CHECK(cut("Pi#ctures") == "Pi|#ctures");
  CHECK(cut("a : b #") == "a|:|b|#");
  CHECK(cut("ü!=1.5") == "ü|!|=|1|.|5");
  CHECK(cut("") == "");
}

TEST_CASE("a syntax error quotes the token between its neighbors as they were written") {
  const auto error = [](std::string_view text, std::size_t at) { return syntax_error(tokenize(text), at); };
  CHECK(error("ADD hits : incr", 2) == R"(Syntax error; token: ":", near: "hits : incr")");
  CHECK(error("SET _123 = :v", 1) == R"(Syntax error; token: "_", near: "SET _123")");
  CHECK(error("INVALID SYNTAX HERE", 0) == R"(Syntax error; token: "INVALID", near: "INVALID SYNTAX")");
  CHECK(error("a b", 1) == R"(Syntax error; token: "b", near: "a b")");
  CHECK(error("foo ", 1) == R"(Syntax error; token: "<EOF>", near: "foo")");
  CHECK(error("", 0) == R"(Syntax error; token: "<EOF>", near: "")");
}

TEST_CASE("reserved words are recognized regardless of case") {
  for (const char* word :
       {"ABORT", "abort", "Size", "ttl", "ZONE", "name", "CLUSTERING", "SUBPARTITION", "localtimestamp"}) {
    INFO(word);
    CHECK(is_reserved_word(word));
  }
  for (const char* word : {"", "a", "names_", "sizes", "LOCALTIMESTAMPS", "ABORTS", "zones", "pk"}) {
    INFO(word);
    CHECK_FALSE(is_reserved_word(word));
  }
}

}  // namespace mayfly::testing
