// Splits an expression into tokens. Never fails: text that is not part of any token becomes an `unknown`
// token, which the parser reports as DynamoDB does.
//
//   tokens of "#a[1] >= :v"  ->  name "#a", punctuation "[", number "1", punctuation "]", comparator ">=",
//                                value ":v", end
//
// A name starts with a letter (not with an underscore: "Syntax error; token: "_", near: "SET _123"").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::compat::expression {

struct Token {
  enum class Kind : std::uint8_t { identifier, name, value, number, comparator, punctuation, unknown, end };
  Kind kind = Kind::end;
  std::string_view text;  // a view into the expression; empty for the token `end`

  [[nodiscard]] bool is(char punctuation_mark) const {
    return kind == Kind::punctuation && text.front() == punctuation_mark;
  }
  // Matches a keyword, ignoring case: token.is_keyword("BETWEEN").
  [[nodiscard]] bool is_keyword(std::string_view upper_case) const;
};

// The last token is always `end`.
std::vector<Token> tokenize(std::string_view text);

// The message for the token at `at`: `Syntax error; token: "b", near: "a b c"`. It quotes the token, and the
// text from the previous token to the next one.
std::string syntax_error(const std::vector<Token>& tokens, std::size_t at);

// True for letters, digits and underscores, the characters of placeholders.
bool is_word_character(char c);

}  // namespace mayfly::compat::expression
