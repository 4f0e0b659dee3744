#include "compat/partiql/token_reader.h"

#include <array>

namespace mayfly::compat::partiql {
namespace {

constexpr auto keywords = std::to_array<std::string_view>(
    {"SELECT",  "FROM",   "WHERE",     "AND",    "OR",     "NOT",    "IN",     "BETWEEN", "IS",
     "NULL",    "ORDER",  "BY",        "ASC",    "DESC",   "INSERT", "INTO",   "VALUE",   "VALUES",
     "MISSING", "UPDATE", "SET",       "REMOVE", "DELETE", "TRUE",   "FALSE",  "EXISTS",  "LIMIT",
     "GROUP",   "HAVING", "RETURNING", "OFFSET", "JOIN",   "AS",     "TABLE",  "LIKE",    "DISTINCT"});

}  // namespace

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
  return std::any_of(keywords.begin(), keywords.end(),
                     [&](std::string_view word) { return peek().is_keyword(word); });
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
