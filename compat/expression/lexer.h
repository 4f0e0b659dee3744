// Cuts an expression into tokens. Never fails: what belongs to no token becomes an `unknown` one, which the
// parser then reports as DynamoDB does.
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
  std::string_view text;  // into the expression; empty at its end

  [[nodiscard]] bool is(char punctuation_mark) const {
    return kind == Kind::punctuation && text.front() == punctuation_mark;
  }
  // Keywords in any case: token.is_keyword("BETWEEN").
  [[nodiscard]] bool is_keyword(std::string_view upper_case) const;
};

// The last token is always `end`.
std::vector<Token> tokenize(std::string_view text);

// `Syntax error; token: "b", near: "a b c"`: the token, and the text from its predecessor to its successor.
std::string syntax_error(const std::vector<Token>& tokens, std::size_t at);

// Is it a letter, a digit or an underscore? Placeholders are made of these.
bool is_word_character(char c);

}  // namespace mayfly::compat::expression
