// Cuts a PartiQL statement into tokens, as PartiQL's published lexer does. Never fails: what belongs to no
// token, a quote or comment that is not closed and a number whose exponent or scale is no 32-bit integer
// become `unknown` ones, for which the parser refuses the statement.
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
  std::string text;  // without quotes, with what they escaped
  // Where it stands, as some messages say: in code points, from 1, and with its quotes.
  std::uint32_t line = 0, column = 0, length = 0;

  [[nodiscard]] bool is(std::string_view mark) const { return kind == Kind::punctuation && text == mark; }
  // Whether it is this one, in any case: token.is_keyword("SELECT").
  [[nodiscard]] bool is_keyword(std::string_view upper_case) const;
  // " at 2:27:11"
  [[nodiscard]] std::string place() const;
};

// The last token is always `end`.
std::vector<Token> tokenize(std::string_view statement);

}  // namespace mayfly::compat::partiql
