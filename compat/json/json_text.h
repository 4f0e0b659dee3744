// Appends JSON to a string through a cursor. TextAppender is meant for large or frequently written values;
// use json::Writer for everything else.
//
//   {
//     TextAppender text(answer, item_bytes);   // item_bytes: the expected size
//     text.literal("{\"S\":");
//     text.quoted(value);                      // escaped, with the quotes
//     text.byte('}');
//   }                                          // the destructor cuts the string at the cursor
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/base/appender.h"

namespace mayfly::json {

#ifdef __SSE2__
// Holds 16 bytes of a string and tells whether one of them is below 0x20 or is '"' or '\\'.
struct SixteenBytes {
  __m128i bytes;
  [[nodiscard]] __m128i escaped() const {  // all bits set for each byte that needs an escape
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return _mm_or_si128(control, _mm_or_si128(quote, backslash));
  }
  [[nodiscard]] bool has_escapes() const { return _mm_movemask_epi8(escaped()) != 0; }
  [[nodiscard]] bool has_escapes(std::size_t among_first) const {
    return (static_cast<unsigned>(_mm_movemask_epi8(escaped())) & ((1u << among_first) - 1)) != 0;
  }
};
#endif

class TextAppender : public engine::Appender {
 public:
  using Appender::Appender;

  void quoted(std::string_view text) { quoted_at_length(text); }
  // Does the same, but is faster for short strings. The function is inline because most strings in an item
  // are short. Requires: the bytes after the text, up to `end`, are readable.
  void quoted(std::string_view text, const char* end) {
#ifdef __SSE2__
    if (text.size() <= sizeof(SixteenBytes) &&
        end - text.data() >= static_cast<std::ptrdiff_t>(sizeof(SixteenBytes))) {
      SixteenBytes read;
      std::memcpy(&read, text.data(), sizeof read);
      if (!read.has_escapes(text.size())) {
        char* to = room(sizeof read + 2);
        *to++ = '"';
        std::memcpy(to, &read, sizeof read);
        to += text.size();
        *to++ = '"';
        return written(to);
      }
    }
#else
    (void)end;
#endif
    quoted_at_length(text);
  }

 private:
  void quoted_at_length(std::string_view text);
  char* escaped(std::string_view text, char* to);
};

}  // namespace mayfly::json
