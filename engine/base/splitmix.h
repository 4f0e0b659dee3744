// The parts of SplitMix64, for pseudo-random numbers that are the same in every build and every run.
//
//   mix(seed + n * splitmix_step)      number n of a seed's sequence; n starts at 1
#pragma once

#include <cstdint>

namespace mayfly::engine {

inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15u;

// The finalizer: every bit of the input affects every bit of the output.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace mayfly::engine
