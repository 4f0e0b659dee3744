// An input that is more than one thing: numbers taken off its front, and lines; or one of several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly::testing {

// 0 if there is nothing left.
inline std::uint8_t take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

// What stands before the next `end`, which goes too; without one all of it.
inline std::string_view take_until(std::string_view& input, char end = '\n') {
  const std::string_view taken = input.substr(0, input.find(end));
  input.remove_prefix(std::min(taken.size() + 1, input.size()));
  return taken;
}

// Which of `count` things an input is tried as where all of them would take too long: the next input, which
// has another byte somewhere, is tried as another.
inline std::size_t choice(std::string_view input, std::size_t count) {
  std::uint32_t sum = 0;
  for (const char byte : input) sum += static_cast<std::uint8_t>(byte);
  return sum % count;
}

}  // namespace mayfly::testing
