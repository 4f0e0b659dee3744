#include "compat/partiql/token_reader.h"

#include "compat/partiql/keywords.h"

namespace mayfly::compat::partiql {

Unexpected<Error> malformed(const std::string& what) {
  return error::validation("Statement wasn't well formed, can't be processed: " + what);
}

Result<void> TokenReader::check_tokens() const {
  const auto is_unknown = [](const Token& token) { return token.kind == Token::Kind::unknown; };
  if (std::any_of(tokens_.begin(), tokens_.end(), is_unknown)) return malformed("");
  return {};
}

bool TokenReader::accept(std::string_view mark) {
  if (!peek().is(mark)) return false;
  next();
  return true;
}

bool TokenReader::accept_keyword(std::string_view upper_case) {
  if (!peek().is_keyword(upper_case)) return false;
  next();
  return true;
}

Result<void> TokenReader::expect(std::string_view mark, std::string_view name) {
  if (!accept(mark)) return malformed("Expected " + std::string(name));
  return {};
}

bool TokenReader::at_keyword() const {
  return peek().kind == Token::Kind::word && partiql::is_keyword(peek().text);
}

bool TokenReader::at_name() const {
  return peek().kind == Token::Kind::quoted || (peek().kind == Token::Kind::word && !at_keyword());
}

}  // namespace mayfly::compat::partiql
