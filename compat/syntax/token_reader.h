// TokenReader: the base of the parsers of conditions, projections and updates. It reads tokens and paths.
//
// A syntax error ends parsing immediately. For every other kind of error, the first error is noted and
// parsing continues: DynamoDB checks the whole expression for one kind of error after another, and each
// parser knows the order.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compat/syntax/ast.h"
#include "compat/syntax/lexer.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/error.h"

namespace mayfly::compat::expression {

// The maximum nesting of parentheses and calls. 300 operators can nest 300 deep.
inline constexpr int expression_depth_max = 320;

// A message without the prefix "Invalid ConditionExpression: ".
struct ParseError {
  std::string message;
};
template <class T>
using Parsed = Expected<T, ParseError>;

// The message of an error, or an empty string.
using Finding = std::string;

inline void note(Finding& finding, std::string message) {
  if (finding.empty()) finding = std::move(message);
}

class TokenReader {
 protected:
  TokenReader(std::string_view text, Substitutions& substitutions)
      : tokens_(tokenize(text)), substitutions_(substitutions) {}

  [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
  [[nodiscard]] const Token& peek_next() const { return tokens_[at_ + (at_ + 1 < tokens_.size() ? 1 : 0)]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(char punctuation_mark);
  bool accept_keyword(std::string_view upper_case);
  Parsed<void> expect(char punctuation_mark);
  Parsed<void> expect_end();
  [[nodiscard]] Unexpected<ParseError> syntax_error_here() const;

  // Whether the next token begins a path: an identifier that is not a keyword, or a '#name'.
  [[nodiscard]] bool at_path() const;
  [[nodiscard]] bool at_function() const;  // an identifier followed by '('
  Parsed<Path> path();
  Parsed<void> path_tail(Path& path);  // all .name and [3] that follow

  // Reads a ':value' token. Returns nullptr and notes the error if the value is undefined.
  const SharedValue* value();

  void count_operator();

  // Returns the first finding that is not empty, as an error.
  static Parsed<void> first_of(std::initializer_list<const Finding*> findings);

  [[nodiscard]] bool parentheses_match() const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;

  Finding too_many_operators_;
  Finding reserved_word_;
  Finding unusable_path_;  // too deep, or an index out of range
  Finding undefined_name_;
  Finding undefined_value_;
  Finding undefined_;  // the first undefined name or value

 private:
  Parsed<void> path_name(Path& path);

  Substitutions& substitutions_;
  int operators_ = 0;
};

// Rejects an expression that is empty or longer than 4 KB.
Parsed<void> check_expression_size(std::string_view kind, std::string_view text);

// Parses an expression with `Parser`. Errors begin with "Invalid FilterExpression: " and have the
// substitutions' frame.
template <class Parser>
auto parse_expression(std::string_view kind, std::string_view text, Substitutions& substitutions) {
  const auto parse = [&]() -> decltype(Parser(text, substitutions).parse()) {
    CHECK_OK(check_expression_size(kind, text));
    return Parser(text, substitutions).parse();
  };
  auto parsed = parse();
  using Outcome = Result<typename decltype(parsed)::value_type>;
  if (parsed) return Outcome(*std::move(parsed));
  return in_frame(substitutions.frame(),
                  Outcome(error::validation("Invalid " + std::string(kind) + ": " + parsed.error().message)));
}

}  // namespace mayfly::compat::expression
