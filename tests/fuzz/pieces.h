// Helpers for inputs that have several parts or uses: they remove bytes and lines from the front of an input,
// or choose one of its uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly::testing {

// Takes the first byte, or returns 0 if the input is empty.
inline std::uint8_t take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

// Takes the text up to the next `end` and removes both. Takes everything if there is no `end`.
inline std::string_view take_until(std::string_view& input, char end = '\n') {
  const std::string_view taken = input.substr(0, input.find(end));
  input.remove_prefix(std::min(taken.size() + 1, input.size()));
  return taken;
}

// Chooses one of `count` ways to try an input, for targets where trying every way would take too long. The
// choice depends on every byte, so a mutated input is tried in another way.
inline std::size_t choice(std::string_view input, std::size_t count) {
  std::uint32_t sum = 0;
  for (const char byte : input) sum += static_cast<std::uint8_t>(byte);
  return sum % count;
}

}  // namespace mayfly::testing
