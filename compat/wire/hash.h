// A hash of bytes that is the same on every host and in every run; two seeds give two independent ones.
// Not for keeping secrets.
//
//   hash("abc", 0) != hash("abd", 0)
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly::compat {

// SplitMix64's finalizer: every bit of the input reaches every bit of the output.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

constexpr std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t state = mix(seed + 0x9e3779b97f4a7c15u);
  for (const char byte : bytes)
    state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;  // FNV-1a
  return mix(state);
}

}  // namespace mayfly::compat
