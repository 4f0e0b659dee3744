// The keywords of PartiQL: SQL-92's and PartiQL's own. A keyword can be used as a name only in double quotes.
//
//   is_keyword("user")          true:  SELECT "user" FROM …
//   is_function_name("upper")   true:  a keyword that can come before a '('
//
// The list comes from PartiQL's published grammar. It is unrelated to the reserved words of expressions.
#pragma once

#include <string_view>

namespace mayfly::compat::partiql {

// Both functions ignore case.
bool is_keyword(std::string_view word);
bool is_function_name(std::string_view word);

}  // namespace mayfly::compat::partiql
