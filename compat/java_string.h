// Lengths as the service counts them: it is written in Java, whose strings are of UTF-16 units.
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly::compat {

// "abÿ" -> 3; of characters past U+FFFF each counts 2.
inline std::int64_t java_length(std::string_view utf8) {
  std::int64_t units = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

}  // namespace mayfly::compat
