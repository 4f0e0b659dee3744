#include "engine/base/uuid.h"

#include <cstdint>
#include <cstdio>

namespace mayfly::engine {

std::string random_uuid(Random& random) {
  std::uint64_t high = random.next(), low = random.next();
  high = (high & 0xffffffff'ffff0fff) | 0x4000;             // version 4
  low = (low & 0x3fffffff'ffffffff) | 0x80000000'00000000;  // variant 1
  const auto part = [](std::uint64_t half, int shift) { return static_cast<unsigned>(half >> shift); };
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", part(high, 32), part(high, 16) & 0xffff,
                part(high, 0) & 0xffff, part(low, 48), part(low, 32) & 0xffff, part(low, 0));
  return text;
}

}  // namespace mayfly::engine
