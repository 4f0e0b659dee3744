// Whether bytes are text: UTF-8 as RFC 3629 has it, without overlong forms and surrogates.
//
//   is_utf8("\xc3\xa4"), is_utf8("")        is_utf8("\xc3"), ("\xc0\x80"), ("\xed\xa0\x80") are not
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::compat {

inline bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto at = [&](std::size_t place) {
      return place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0u;
    };
    const unsigned first = at(i++);
    if (first < 0x80) continue;
    const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    // The second byte's range says what is overlong, a surrogate, or beyond U+10FFFF.
    const unsigned low = first == 0xe0 ? 0xa0u : first == 0xf0 ? 0x90u : 0x80u;
    const unsigned high = first == 0xed ? 0x9fu : first == 0xf4 ? 0x8fu : 0xbfu;
    if (first < 0xc2 || first > 0xf4 || at(i) < low || at(i) > high) return false;
    for (std::size_t next = i + 1; next < i + more; ++next)
      if ((at(next) & 0xc0u) != 0x80u) return false;
    i += more;
  }
  return true;
}

}  // namespace mayfly::compat
