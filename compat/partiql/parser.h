// Parses the text of a PartiQL statement with its parameters into statement.h.
//
//   auto statement = partiql::parse("DELETE FROM \"music\" WHERE artist = ?",
//                                   {engine::AttributeValue("Nina")});
//
// Errors are syntax errors (syntax_parser.h) and the errors that DynamoDB reports for well-formed statements:
// "Number of parameters in request and statement don't match.", invalid values (numbers out of range, sets of
// mixed types), unsupported functions and clauses.
#pragma once

#include <string_view>
#include <vector>

#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

Result<Statement> parse(std::string_view text, std::vector<engine::AttributeValue> parameters);

}  // namespace mayfly::compat::partiql
