// Bytes as lower-case hexadecimal digits.
//
//   hex("\x0fz") == "0f7a"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::engine {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

inline std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 15];
  }
  return out;
}

}  // namespace mayfly::engine
