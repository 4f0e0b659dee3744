// TokenReader: the base of the syntax parser. It reads tokens and reports unexpected ones.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compat/partiql/lexer.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

// Limit on nested parentheses, NOTs, calls, literals and terms.
inline constexpr int expression_depth_max = 100;

// "Statement wasn't well formed, can't be processed: …"
Unexpected<Error> malformed(const std::string& what);

class TokenReader {
 protected:
  explicit TokenReader(std::string_view text) : tokens_(tokenize(text)) {}

  // Error if any token is `unknown`. The message does not describe the token.
  [[nodiscard]] Result<void> check_tokens() const;

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(std::string_view mark);
  bool accept_keyword(std::string_view upper_case);
  // Error if the next token is a different one: "Expected RIGHT_PAREN".
  Result<void> expect(std::string_view mark, std::string_view name);
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::end; }
  [[nodiscard]] bool at_keywords(std::string_view first, std::string_view second) const {
    return peek().is_keyword(first) && peek(1).is_keyword(second);
  }
  [[nodiscard]] bool at_keyword() const;  // whether the next token is a word that must be quoted to be a name
  [[nodiscard]] bool at_name() const;

  // Counts one level of nesting while the object exists. Converts to false if the nesting is too deep.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    explicit operator bool() const { return depth_ <= expression_depth_max; }

   private:
    int& depth_;
  };
  Level deeper() { return Level(depth_); }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace mayfly::compat::partiql
