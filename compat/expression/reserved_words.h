// The words that an expression may not use as an attribute's name, in any case; "#placeholders" may stand for
// them.
//
//   is_reserved_word("Size") && !is_reserved_word("sizes")
#pragma once

#include <string_view>

namespace mayfly::compat::expression {

bool is_reserved_word(std::string_view name);

}  // namespace mayfly::compat::expression
