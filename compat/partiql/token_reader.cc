#include "compat/partiql/token_reader.h"

#include "compat/partiql/keywords.h"

namespace mayfly::compat::partiql {

Unexpected<Error> malformed(const std::string& what) {
  return error::validation("Statement wasn't well formed, can't be processed: " + what);
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

Result<void> TokenReader::expect(std::string_view mark) {
  if (!accept(mark)) return unexpected("Unexpected term");
  return {};
}

Result<void> TokenReader::expect_keyword(std::string_view upper_case) {
  if (!accept_keyword(upper_case)) return unexpected("Unexpected term");
  return {};
}

bool TokenReader::at_keyword() const {
  return peek().kind == Token::Kind::word && partiql::is_keyword(peek().text);
}

bool TokenReader::at_name() const {
  return peek().kind == Token::Kind::quoted || (peek().kind == Token::Kind::word && !at_keyword());
}

bool TokenReader::at_call() const { return peek().kind == Token::Kind::word && peek(1).is("("); }

bool TokenReader::at_function(std::string_view upper_case) const {
  return at_call() && peek().is_keyword(upper_case);
}

Unexpected<Error> TokenReader::unexpected(const std::string& otherwise) const {
  return malformed(at_keyword() ? "Unexpected keyword" : otherwise);
}

}  // namespace mayfly::compat::partiql
