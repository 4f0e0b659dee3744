// The syntax of region names, which appear in storage keys, ARNs, paths and headers. Any name that consists
// of these characters is accepted, whether or not AWS has such a region.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "engine/base/text.h"

namespace mayfly::engine {

inline constexpr std::size_t region_bytes_max = 64;
inline constexpr std::string_view region_letters =
    "up to 64 letters, digits, '-', '_' and '.'";  // for messages

constexpr bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= region_bytes_max &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace mayfly::engine
