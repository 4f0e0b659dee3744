// A PartiQL statement's text and its parameters -> statement.h.
//
//   auto statement = partiql::parse("DELETE FROM \"music\" WHERE artist = ?",
//                                   {engine::AttributeValue("Nina")});
//
// Errors: "Statement wasn't well formed, can't be processed: …", "Number of parameters in request and
// statement don't match.", and those of values (numbers that do not fit, sets of mixed types).
#pragma once

#include <string_view>
#include <vector>

#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

Result<Statement> parse(std::string_view text, std::vector<engine::AttributeValue> parameters);

}  // namespace mayfly::compat::partiql
