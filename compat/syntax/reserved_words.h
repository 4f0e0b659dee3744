// Reserved words: regardless of case, an expression cannot use them as attribute names, except through a
// "#placeholder".
//
//   is_reserved_word("Size") && !is_reserved_word("sizes")
#pragma once

#include <string_view>

namespace mayfly::compat::expression {

bool is_reserved_word(std::string_view name);

}  // namespace mayfly::compat::expression
