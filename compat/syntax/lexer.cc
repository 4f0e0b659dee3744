#include "compat/syntax/lexer.h"

#include "engine/base/check.h"
#include "engine/base/text.h"

namespace mayfly::compat::expression {
namespace {

using engine::is_digit;
using engine::is_letter;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t end_of_word(std::string_view text, std::size_t from) {
  while (from < text.size() && is_word_character(text[from])) ++from;
  return from;
}

// Returns the token that starts at `from`. Requires: the character at `from` is not a space.
Token token_at(std::string_view text, std::size_t from) {
  const auto cut = [&](Token::Kind kind, std::size_t end) {
    return Token{kind, text.substr(from, end - from)};
  };
  const char c = text[from];
  if (is_letter(c)) return cut(Token::Kind::identifier, end_of_word(text, from));
  if (is_digit(c)) {
    std::size_t end = from;
    while (end < text.size() && is_digit(text[end])) ++end;
    return cut(Token::Kind::number, end);
  }
  if (c == '#' || c == ':') {
    const std::size_t end = end_of_word(text, from + 1);
    if (end > from + 1) return cut(c == '#' ? Token::Kind::name : Token::Kind::value, end);
  }
  if (c == '=') return cut(Token::Kind::comparator, from + 1);
  if (c == '<' || c == '>') {
    const char next = from + 1 < text.size() ? text[from + 1] : '\0';
    const bool two = next == '=' || (c == '<' && next == '>');
    return cut(Token::Kind::comparator, from + (two ? 2 : 1));
  }
  constexpr std::string_view punctuation = "()[],.+-";
  if (punctuation.find(c) != std::string_view::npos) return cut(Token::Kind::punctuation, from + 1);
  std::size_t end = from + 1;  // a whole character, so that messages stay UTF-8
  while (end < text.size() && is_continuation_byte(text[end])) ++end;
  return cut(Token::Kind::unknown, end);
}

}  // namespace

bool is_word_character(char c) { return engine::is_alphanumeric(c) || c == '_'; }

bool Token::is_keyword(std::string_view upper_case) const {
  if (kind != Kind::identifier || text.size() != upper_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'a' && text[i] <= 'z' ? static_cast<char>(text[i] - 'a' + 'A') : text[i];
    if (c != upper_case[i]) return false;
  }
  return true;
}

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 3 + 2);
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    tokens.push_back(token_at(text, at));
    at += tokens.back().text.size();
  }
  tokens.push_back({Token::Kind::end, text.substr(text.size())});
  return tokens;
}

std::string syntax_error(const std::vector<Token>& tokens, std::size_t at) {
  MAYFLY_CHECK(at < tokens.size());
  const Token& token = tokens[at];
  const bool at_end = token.kind == Token::Kind::end;
  const bool next_shows = !at_end && tokens[at + 1].kind != Token::Kind::end;
  const std::string_view first = at > 0 ? tokens[at - 1].text : token.text;
  const std::string_view last = next_shows ? tokens[at + 1].text : at_end ? first : token.text;
  std::string message = "Syntax error; token: \"";
  message += at_end ? std::string_view("<EOF>") : token.text;
  message += "\", near: \"";
  message.append(first.data(), last.data() + last.size());
  message += '"';
  return message;
}

}  // namespace mayfly::compat::expression
