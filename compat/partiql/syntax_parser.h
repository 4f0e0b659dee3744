// A statement's text -> syntax.h, by the grammar that PartiQL publishes (partiql-lang-kotlin's SqlParser, of
// early 2022), as far as it can mean something to DynamoDB. AWS's refusals are the parser's own words after
// "Statement wasn't well formed, can't be processed: ".
//
//   TRY(const Syntax syntax, parse_syntax("DELETE FROM music WHERE artist = ?"));
#pragma once

#include <string_view>

#include "compat/partiql/syntax.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

Result<Syntax> parse_syntax(std::string_view text);

}  // namespace mayfly::compat::partiql
