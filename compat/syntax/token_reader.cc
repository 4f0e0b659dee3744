#include "compat/syntax/token_reader.h"

#include <charconv>

#include "compat/syntax/parser.h"
#include "compat/syntax/path_set.h"
#include "compat/syntax/reserved_words.h"

namespace mayfly::compat::expression {
namespace {

// All expressions share one grammar: a keyword of one expression is a keyword of all expressions.
bool is_keyword(const Token& token) {
  for (std::string_view word : {"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"}) {
    if (token.is_keyword(word)) return true;
  }
  return false;
}

constexpr std::uint32_t list_index_max = 2147483647;

}  // namespace

Parsed<void> check_expression_size(std::string_view kind, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Unexpected{ParseError{"The expression can not be empty;"}};
  if (text.size() <= expression_bytes_max) return {};
  std::string message = "Expression size has exceeded the maximum allowed size;";
  // AWS stopped reporting the size of an UpdateExpression in autumn 2026.
  if (kind != "UpdateExpression") message += " expression size: " + std::to_string(text.size());
  return Unexpected{ParseError{std::move(message)}};
}

bool TokenReader::accept(char punctuation_mark) {
  if (!peek().is(punctuation_mark)) return false;
  next();
  return true;
}

bool TokenReader::accept_keyword(std::string_view upper_case) {
  if (!peek().is_keyword(upper_case)) return false;
  next();
  return true;
}

Parsed<void> TokenReader::expect(char punctuation_mark) {
  if (!accept(punctuation_mark)) return syntax_error_here();
  return {};
}

Parsed<void> TokenReader::expect_end() {
  if (peek().kind != Token::Kind::end) return syntax_error_here();
  return {};
}

Unexpected<ParseError> TokenReader::syntax_error_here() const {
  return Unexpected{ParseError{syntax_error(tokens_, at_)}};
}

bool TokenReader::at_path() const {
  return peek().kind == Token::Kind::name || (peek().kind == Token::Kind::identifier && !is_keyword(peek()));
}

bool TokenReader::at_function() const {
  return peek().kind == Token::Kind::identifier && !is_keyword(peek()) && peek_next().is('(');
}

Parsed<void> TokenReader::path_name(Path& path) {
  if (!at_path()) return syntax_error_here();
  const Token& token = next();
  if (token.kind == Token::Kind::name) {
    const std::string* name = substitutions_.name(token.text);
    if (name == nullptr) {
      const std::string message =
          "An expression attribute name used in the document path is not defined; attribute name: " +
          std::string(token.text);
      note(undefined_name_, message);
      note(undefined_, message);
    }
    path.elements.emplace_back(name == nullptr ? std::string() : *name);
    return {};
  }
  if (is_reserved_word(token.text)) {
    note(reserved_word_,
         "Attribute name is a reserved keyword; reserved keyword: " + std::string(token.text));
  }
  path.elements.emplace_back(std::string(token.text));
  return {};
}

Parsed<void> TokenReader::path_tail(Path& path) {
  for (;;) {
    if (accept('.')) {
      CHECK_OK(path_name(path));
    } else if (accept('[')) {
      if (peek().kind != Token::Kind::number) return syntax_error_here();
      const std::string_view digits = next().text;
      std::uint32_t index = 0;
      const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (code != std::errc() || index > list_index_max) {
        note(unusable_path_,
             "List index is not within the allowable range; index: [" + std::string(digits) + "]");
      }
      CHECK_OK(expect(']'));
      path.elements.emplace_back(index);
    } else {
      break;
    }
  }
  if (path.elements.size() > path_elements_max) {
    note(unusable_path_, "The document path has too many nesting levels; nesting levels: " +
                             std::to_string(path.elements.size()));
  }
  return {};
}

Parsed<Path> TokenReader::path() {
  Path path;
  CHECK_OK(path_name(path));
  CHECK_OK(path_tail(path));
  return path;
}

const SharedValue* TokenReader::value() {
  const std::string_view placeholder = next().text;
  const SharedValue* value = substitutions_.value(placeholder);
  if (value == nullptr) {
    const std::string message =
        "An expression attribute value used in expression is not defined; attribute value: " +
        std::string(placeholder);
    note(undefined_value_, message);
    note(undefined_, message);
  }
  return value;
}

void TokenReader::count_operator() {
  if (++operators_ > operators_max) {
    note(too_many_operators_,
         "The expression contains too many operators; operator count: " + std::to_string(operators_));
  }
}

Parsed<void> TokenReader::first_of(std::initializer_list<const Finding*> findings) {
  for (const Finding* finding : findings) {
    if (!finding->empty()) return Unexpected{ParseError{*finding}};
  }
  return {};
}

bool TokenReader::parentheses_match() const {
  std::size_t open = 0, closed = 0;
  for (const Token& token : tokens_) {
    open += token.is('(') ? 1 : 0;
    closed += token.is(')') ? 1 : 0;
  }
  return open == closed;
}

}  // namespace mayfly::compat::expression
