// A PartiQL statement's text and its parameters -> statement.h.
//
//   auto statement = partiql::parse("DELETE FROM \"music\" WHERE artist = ?",
//                                   {engine::AttributeValue("Nina")});
//
// Errors: those of the syntax (syntax_parser.h), and what DynamoDB refuses of what is well formed: "Number of
// parameters in request and statement don't match.", values (numbers that do not fit, sets of mixed types),
// functions and clauses that it does not have.
#pragma once

#include <string_view>
#include <vector>

#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

Result<Statement> parse(std::string_view text, std::vector<engine::AttributeValue> parameters);

}  // namespace mayfly::compat::partiql
