#include "compat/json/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace mayfly::json {
namespace {

// For each byte: 0 if it needs no escape, 'u' if it is written as \u00xx, else the byte that follows its '\'.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  for (int c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}
constexpr std::array<char, 256> escapes = make_escapes();
constexpr std::size_t escape_bytes_max = 6;

constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;

// The structs below hold 2 to 64 bytes of a string and tell whether any of these bytes is below 0x20 or is
// '"' or '\\'.
struct Two {
  std::uint16_t bytes;
  [[nodiscard]] bool has_escapes() const { return escapes[bytes & 0xff] != 0 || escapes[bytes >> 8] != 0; }
};
struct Eight {
  std::uint64_t bytes;
  [[nodiscard]] bool has_escapes() const {
    const auto has_zero = [](std::uint64_t word) { return (word - ones) & ~word; };
    const std::uint64_t control = (bytes - ones * 0x20) & ~bytes;
    return ((control | has_zero(bytes ^ ones * '"') | has_zero(bytes ^ ones * '\\')) & highs) != 0;
  }
};
struct Four {
  std::uint32_t bytes;
  [[nodiscard]] bool has_escapes() const { return Eight{bytes | (ones * 'x') << 32}.has_escapes(); }
};
#ifdef __SSE2__
using Sixteen = SixteenBytes;
struct SixtyFour {
  Sixteen parts[4];
  [[nodiscard]] bool has_escapes() const {
    const __m128i first = _mm_or_si128(parts[0].escaped(), parts[1].escaped());
    const __m128i second = _mm_or_si128(parts[2].escaped(), parts[3].escaped());
    return _mm_movemask_epi8(_mm_or_si128(first, second)) != 0;
  }
};
#else
struct Sixteen {
  Eight first, second;
  [[nodiscard]] bool has_escapes() const { return first.has_escapes() || second.has_escapes(); }
};
struct SixtyFour {
  Sixteen parts[4];
  [[nodiscard]] bool has_escapes() const {
    return parts[0].has_escapes() || parts[1].has_escapes() || parts[2].has_escapes() ||
           parts[3].has_escapes();
  }
};
#endif

// Copies sizeof(Bytes) bytes. If one of them needs an escape, copies nothing and returns false.
template <class Bytes>
bool copy_plain(const char* from, char* to) {
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  if (bytes.has_escapes()) return false;
  std::memcpy(to, &bytes, sizeof bytes);
  return true;
}
// Like copy_plain, but for a string whose length is between sizeof(Bytes) and twice that number: copies the
// first and the last sizeof(Bytes) bytes of the string, which can overlap. If this function returns false,
// the first bytes may have been copied.
template <class Bytes>
bool copy_ends(std::string_view text, char* to) {
  const std::size_t last = text.size() - sizeof(Bytes);
  return copy_plain<Bytes>(text.data(), to) && copy_plain<Bytes>(text.data() + last, to + last);
}

#ifdef __SSE2__
__attribute__((target("avx2"))) inline __m256i escaped_of(__m256i bytes) {
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
  const __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  const __m256i backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
  return _mm256_or_si256(control, _mm256_or_si256(quote, backslash));
}

// Copies blocks of 64 bytes, up to the first block with a byte that needs an escape. Returns the number of
// bytes copied.
__attribute__((target("avx2"))) std::size_t copy_plain_blocks(std::string_view text, char* to) {
  std::size_t at = 0;
  for (; at + 64 <= text.size(); at += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(text.data() + at);
    const __m256i first = _mm256_loadu_si256(from), second = _mm256_loadu_si256(from + 1);
    const __m256i any = _mm256_or_si256(escaped_of(first), escaped_of(second));
    if (_mm256_movemask_epi8(any) != 0) break;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at), first);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at) + 1, second);
  }
  return at;
}
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif

// Copies a string that needs no escapes. If this function returns false, a part of the string may have been
// copied.
bool copy_plain_text(std::string_view text, char* to) {
  if (text.size() >= sizeof(Sixteen)) {
    const std::size_t last = text.size() - sizeof(Sixteen);
    std::size_t at = 0;
#ifdef __SSE2__
    if (has_avx2 && text.size() >= sizeof(SixtyFour)) at = copy_plain_blocks(text, to);
#endif
    for (; at + sizeof(SixtyFour) <= text.size(); at += sizeof(SixtyFour))
      if (!copy_plain<SixtyFour>(text.data() + at, to + at)) return false;
    for (; at < last; at += sizeof(Sixteen))
      if (!copy_plain<Sixteen>(text.data() + at, to + at)) return false;
    return copy_plain<Sixteen>(text.data() + last, to + last);
  }
  if (text.size() >= sizeof(Eight)) return copy_ends<Eight>(text, to);
  if (text.size() >= sizeof(Four)) return copy_ends<Four>(text, to);
  if (text.size() >= sizeof(Two)) return copy_ends<Two>(text, to);
  if (text.empty()) return true;
  *to = text.front();
  return escapes[static_cast<unsigned char>(text.front())] == 0;
}

char* write_escape(unsigned char byte, char* to) {
  constexpr char hex[] = "0123456789abcdef";
  *to++ = '\\';
  *to++ = escapes[byte];
  if (escapes[byte] == 'u') {
    *to++ = '0';
    *to++ = '0';
    *to++ = hex[byte >> 4];
    *to++ = hex[byte & 15];
  }
  return to;
}

}  // namespace

void TextAppender::quoted_at_length(std::string_view text) {
  char* to = room(text.size() + 2);
  *to++ = '"';
  if (copy_plain_text(text, to)) {
    to += text.size();
  } else {
    to = escaped(text, to);
  }
  *to++ = '"';
  written(to);
}

// Requires: there is room for the text and a quote at `to`.
char* TextAppender::escaped(std::string_view text, char* to) {
  const char* from = text.data();
  const char* const end = from + text.size();
  while (true) {
    while (end - from >= static_cast<std::ptrdiff_t>(sizeof(Sixteen)) && copy_plain<Sixteen>(from, to)) {
      from += sizeof(Sixteen);
      to += sizeof(Sixteen);
    }
    while (from != end && escapes[static_cast<unsigned char>(*from)] == 0) *to++ = *from++;
    if (from == end) return to;
    written(to);
    to = room(escape_bytes_max + static_cast<std::size_t>(end - from));
    to = write_escape(static_cast<unsigned char>(*from++), to);
  }
}

}  // namespace mayfly::json
