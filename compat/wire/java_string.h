// Properties of strings in the DynamoDB service, which is written in Java: lengths in UTF-16 units, and the
// hash order in which it prints sets of strings.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::compat {

// Returns the length in UTF-16 units: "abÿ" -> 3. A character beyond U+FFFF counts as 2.
inline std::int64_t java_length(std::string_view utf8) {
  std::int64_t units = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

// Java's String.hashCode. For text with non-ASCII characters, the result is only an approximation.
inline std::uint32_t java_hash(std::string_view utf8) {
  std::uint32_t hash = 0;
  for (const char c : utf8) hash = hash * 31 + static_cast<unsigned char>(c);
  return hash;
}

// Returns the strings in the order in which a HashSet with `buckets` buckets enumerates them. Strings of the
// same bucket keep their order.
inline std::vector<std::string> in_java_order(std::vector<std::string> strings, std::uint32_t buckets) {
  const auto bucket = [&](const std::string& text) {
    const std::uint32_t hash = java_hash(text);
    return (hash ^ hash >> 16) & (std::bit_ceil(buckets) - 1);
  };
  std::stable_sort(strings.begin(), strings.end(),
                   [&](const std::string& a, const std::string& b) { return bucket(a) < bucket(b); });
  return strings;
}

}  // namespace mayfly::compat
