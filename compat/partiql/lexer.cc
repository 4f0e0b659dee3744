#include "compat/partiql/lexer.h"

#include <algorithm>

#include "compat/wire/java_number.h"
#include "engine/base/text.h"

namespace mayfly::compat::partiql {
namespace {

using engine::is_digit;

// Names that contain other letters must be quoted.
bool starts_word(char c) { return engine::is_letter(c) || c == '_' || c == '$'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

char upper_letter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// The position of the last character read. A line ends with LF, CR or CR LF.
struct Place {
  std::uint32_t line = 1, column = 0;
  bool after_return = false;

  void advance(std::string_view text) {
    for (const char c : text) {
      const bool returns = c == '\r';
      if (c == '\n' || after_return) {
        ++line;
        column = 0;
      }
      after_return = returns;
      if (c != '\n' && !returns && begins_code_point(c)) ++column;
    }
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const std::size_t begin = at_;
      Token& added = tokens.emplace_back(token());
      place_.advance(text_.substr(begin, 1));
      added.line = place_.line;
      added.column = place_.column;
      const std::string_view rest = text_.substr(begin + 1, at_ - begin - 1);
      added.length =
          1 + static_cast<std::uint32_t>(std::count_if(rest.begin(), rest.end(), begins_code_point));
      place_.advance(rest);
    }
    tokens.emplace_back();
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Skips spaces and comments. An unclosed comment is not skipped. It becomes an `unknown` token.
  void skip_blanks() {
    const std::size_t begin = at_;
    for (;;) {
      if (peek() == '-' && peek(1) == '-') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (const std::size_t end = comment_end(); end != std::string_view::npos) {
        at_ = end;
      } else if (at_ < text_.size() && is_space(peek())) {
        ++at_;
      } else {
        break;
      }
    }
    place_.advance(text_.substr(begin, at_ - begin));
  }

  // Returns the end of the comment that begins here, or npos if there is no comment or it is not closed.
  [[nodiscard]] std::size_t comment_end() const {
    if (peek() != '/' || peek(1) != '*') return std::string_view::npos;
    const std::size_t close = text_.find("*/", at_ + 2);
    return close == std::string_view::npos ? close : close + 2;
  }

  Token cut(Token::Kind kind, std::size_t length) {
    Token token{kind, std::string(text_.substr(at_, length))};
    at_ += length;
    return token;
  }

  Token token() {
    const char c = peek();
    if (c == '\'') return quoted(Token::Kind::string);
    if (c == '"') return quoted(Token::Kind::quoted);
    if (c == '?') return cut(Token::Kind::parameter, 1);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (starts_word(c)) {
      std::size_t length = 1;
      while (starts_word(peek(length)) || is_digit(peek(length))) ++length;
      return cut(Token::Kind::word, length);
    }
    if (c == '/' && peek(1) == '*') return cut(Token::Kind::unknown, text_.size() - at_);
    constexpr std::string_view pairs[] = {"<>", "<=", ">=", "<<", ">>", "!=", "||"};
    for (const std::string_view pair : pairs) {
      if (text_.substr(at_).starts_with(pair)) return cut(Token::Kind::punctuation, 2);
    }
    constexpr std::string_view marks = "()[]{},.:;+-*/%=<>@";
    return cut(marks.find(c) != std::string_view::npos ? Token::Kind::punctuation : Token::Kind::unknown, 1);
  }

  // Two quotes in a row stand for one quote in the text.
  Token quoted(Token::Kind kind) {
    const char quote = peek();
    Token token{kind, {}};
    for (++at_; at_ < text_.size(); ++at_) {
      if (peek() != quote) {
        token.text += peek();
      } else if (peek(1) == quote) {
        token.text += quote;
        ++at_;
      } else {
        ++at_;
        return token;
      }
    }
    token.kind = Token::Kind::unknown;
    return token;
  }

  // A number whose exponent has no digits becomes an `unknown` token.
  Token number() {
    std::size_t length = 0;
    while (is_digit(peek(length))) ++length;
    if (peek(length) == '.') {
      ++length;
      while (is_digit(peek(length))) ++length;
    }
    if (upper_letter(peek(length)) != 'E') return decimal(length);
    ++length;
    if (peek(length) == '+' || peek(length) == '-') ++length;
    if (!is_digit(peek(length))) return cut(Token::Kind::unknown, length);
    while (is_digit(peek(length))) ++length;
    return decimal(length);
  }
  Token decimal(std::size_t length) {
    const bool fits = is_java_decimal(text_.substr(at_, length));
    return cut(fits ? Token::Kind::number : Token::Kind::unknown, length);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
};

}  // namespace

bool Token::is_keyword(std::string_view upper_case) const {
  return kind == Kind::word && text.size() == upper_case.size() &&
         std::equal(text.begin(), text.end(), upper_case.begin(),
                    [](char a, char b) { return upper_letter(a) == b; });
}

std::string Token::place() const {
  return " at " + std::to_string(line) + ":" + std::to_string(column) + ":" + std::to_string(length);
}

std::vector<Token> tokenize(std::string_view statement) { return Lexer(statement).run(); }

}  // namespace mayfly::compat::partiql
