// PartiQL's keywords, SQL-92's and its own: words that are names only in double quotes.
//
//   is_keyword("user")          true:  SELECT "user" FROM …
//   is_function_name("upper")   true:  a keyword that may stand before a '('
//
// They are those of PartiQL's published grammar, and have nothing to do with the reserved words of
// expressions.
#pragma once

#include <string_view>

namespace mayfly::compat::partiql {

// In any case.
bool is_keyword(std::string_view word);
bool is_function_name(std::string_view word);

}  // namespace mayfly::compat::partiql
