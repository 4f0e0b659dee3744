#include "engine/uuid.h"

#include <cstdint>
#include <cstdio>
#include <random>

namespace mayfly::engine {

std::string random_uuid() {
  std::random_device device;
  std::uint32_t words[4];
  for (std::uint32_t& word : words) word = device();
  words[1] = (words[1] & 0xffff0fff) | 0x4000;      // version 4
  words[2] = (words[2] & 0x3fffffff) | 0x80000000;  // variant 1
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", words[0], words[1] >> 16,
                words[1] & 0xffff, words[2] >> 16, words[2] & 0xffff, words[3]);
  return text;
}

}  // namespace mayfly::engine
