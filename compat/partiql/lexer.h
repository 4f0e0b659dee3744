// Splits a PartiQL statement into tokens, as PartiQL's published lexer does. Never fails: malformed text
// becomes an `unknown` token, and the parser then rejects the statement. Text is malformed if it is not part
// of any token. An unclosed quote, an unclosed comment, and a number whose exponent or scale is not a 32-bit
// integer are also malformed.
//
//   tokens of  SELECT "a b" WHERE id <> 'it''s'   ->  word "SELECT", quoted "a b", word "WHERE", word "id",
//                                                     punctuation "<>", string "it's", end
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::compat::partiql {

struct Token {
  enum class Kind : std::uint8_t { word, quoted, string, number, parameter, punctuation, unknown, end };
  Kind kind = Kind::end;
  std::string text;  // unquoted and unescaped
  // The position that some messages give, in code points, counted from 1. The length includes quotes.
  std::uint32_t line = 0, column = 0, length = 0;

  [[nodiscard]] bool is(std::string_view mark) const { return kind == Kind::punctuation && text == mark; }
  // Matches a keyword, ignoring case: token.is_keyword("SELECT").
  [[nodiscard]] bool is_keyword(std::string_view upper_case) const;
  // The position as text: " at 2:27:11".
  [[nodiscard]] std::string place() const;
};

// The last token is always `end`.
std::vector<Token> tokenize(std::string_view statement);

}  // namespace mayfly::compat::partiql
