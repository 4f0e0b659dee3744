// Hashes bytes. The result is the same on every host and in every run. Two seeds give two independent hashes.
// Not for cryptographic use.
//
//   hash("abc", 0) != hash("abd", 0)
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/splitmix.h"

namespace mayfly::compat {

constexpr std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t state = engine::mix(seed + engine::splitmix_step);
  for (const char byte : bytes)
    state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;  // FNV-1a
  return engine::mix(state);
}

}  // namespace mayfly::compat
