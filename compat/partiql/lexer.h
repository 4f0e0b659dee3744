// Cuts a PartiQL statement into tokens. Never fails: what belongs to no token, or a quote or comment that is
// not closed, becomes an `unknown` one, which the parser then refuses.
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
  // Where it stands, as some messages say: from 1, and with its quotes.
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
