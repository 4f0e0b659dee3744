// Parses a whole number.
//
//   whole_number<std::uint16_t>("8000") == 8000
//   whole_number<std::uint16_t>("70000"), ("-1"), ("8000x"), (" 8000"), ("")   nullopt
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace mayfly::engine {

// The string must consist of digits only, which a '-' may precede if the type is signed. Returns nullopt if
// the string is not a number or the number does not fit the type.
template <class Integer>
std::optional<Integer> whole_number(std::string_view text, int base = 10) {
  Integer number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data(), end, number, base);
  if (failure != std::errc{} || last != end) return std::nullopt;
  return number;
}

}  // namespace mayfly::engine
