// Parses a statement's text into syntax.h by PartiQL's published grammar (partiql-lang-kotlin's SqlParser, of
// early 2022), limited to the parts that DynamoDB can use. AWS's error messages are that parser's own
// messages after "Statement wasn't well formed, can't be processed: ".
//
//   TRY(const Syntax syntax, parse_syntax("DELETE FROM music WHERE artist = ?"));
#pragma once

#include <string_view>

#include "compat/partiql/syntax.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

Result<Syntax> parse_syntax(std::string_view text);

}  // namespace mayfly::compat::partiql
