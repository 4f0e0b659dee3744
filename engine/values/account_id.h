// An account's id: twelve digits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "engine/base/text.h"

namespace mayfly::engine {

inline constexpr std::size_t account_id_digits = 12;

constexpr bool is_account_id(std::string_view text) {
  return text.size() == account_id_digits && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace mayfly::engine
