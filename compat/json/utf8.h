// Validates UTF-8 (RFC 3629): rejects overlong forms and surrogates.
//
//   is_utf8("\xc3\xa4"), is_utf8("")        is_utf8("\xc3"), ("\xc0\x80"), ("\xed\xa0\x80") are false
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::compat {

// Returns the length of the first character in bytes; 0 if `bytes` is empty or starts with malformed UTF-8.
inline std::size_t utf8_character_bytes(std::string_view bytes) {
  const auto at = [&](std::size_t place) {
    return place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0u;
  };
  if (bytes.empty()) return 0;
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  // The range of the second byte excludes overlong forms, surrogates, and code points beyond U+10FFFF.
  const unsigned low = first == 0xe0 ? 0xa0u : first == 0xf0 ? 0x90u : 0x80u;
  const unsigned high = first == 0xed ? 0x9fu : first == 0xf4 ? 0x8fu : 0xbfu;
  if (first < 0xc2 || first > 0xf4 || at(1) < low || at(1) > high) return 0;
  for (std::size_t next = 2; next < count; ++next)
    if ((at(next) & 0xc0u) != 0x80u) return 0;
  return count;
}

inline bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t character = utf8_character_bytes(bytes);
    if (character == 0) return false;
    bytes.remove_prefix(character);
  }
  return true;
}

// Returns the longest prefix of `text` with at most `bytes_max` bytes that does not end within a character.
inline std::string_view whole_characters(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
  return text.substr(0, size);
}

}  // namespace mayfly::compat
