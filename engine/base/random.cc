#include "engine/base/random.h"

#include <random>

namespace mayfly::engine {

std::uint64_t SystemRandom::next() {
  std::random_device device;
  static_assert(std::random_device::min() == 0 && std::random_device::max() == 0xffffffff);
  const std::uint64_t high = device();
  return (high << 32) | device();
}

}  // namespace mayfly::engine
