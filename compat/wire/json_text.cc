#include "compat/wire/json_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mayfly::json {
namespace {

// For each byte: 0 if it stands for itself in a string, 'u' if it takes \u00xx, else what follows its '\'.
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

// A vector register's worth of text, whatever the processor calls it.
using Block = std::uint8_t __attribute__((vector_size(16)));
using Halves = std::uint64_t __attribute__((vector_size(16)));

// True if one of the bytes is below 0x20, or is '"' or '\'.
bool has_escapes(Block block) {
  const auto found = reinterpret_cast<Halves>((block < 0x20) | (block == '"') | (block == '\\'));
  return (found[0] | found[1]) != 0;
}
bool has_escapes(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t w) { return (w - ones) & ~w & highs; };
  const std::uint64_t control = (word - ones * 0x20) & ~word & highs;
  return (control | has_zero(word ^ ones * '"') | has_zero(word ^ ones * '\\')) != 0;
}

// Copies what stands for itself, so many bytes at a time, up to some before the first that does not.
template <class Bytes>
void copy_plain(const char*& from, const char* end, char*& to) {
  for (; static_cast<std::size_t>(end - from) >= sizeof(Bytes); from += sizeof(Bytes), to += sizeof(Bytes)) {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    if (has_escapes(bytes)) return;
    std::memcpy(to, &bytes, sizeof bytes);
  }
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

void TextAppender::quoted(std::string_view text) {
  const char* from = text.data();
  const char* const end = from + text.size();
  char* to = room(text.size() + 2);
  *to++ = '"';
  while (true) {
    copy_plain<Block>(from, end, to);
    copy_plain<std::uint64_t>(from, end, to);
    while (from != end && escapes[static_cast<unsigned char>(*from)] == 0) *to++ = *from++;
    if (from == end) break;
    written(to);
    to = room(escape_bytes_max + static_cast<std::size_t>(end - from));  // the quote's is among the rest's
    to = write_escape(static_cast<unsigned char>(*from++), to);
  }
  *to++ = '"';
  written(to);
}

// What is written over is zeroed first: that is a sixteenth of what writing it costs.
void TextAppender::grow(std::size_t bytes) {
  const auto used = static_cast<std::size_t>(at_ - out_.data());
  if (used + bytes > out_.capacity()) out_.reserve(std::max(used + bytes, 2 * out_.capacity()));
  out_.resize(out_.capacity());
  at_ = out_.data() + used;
  end_ = out_.data() + out_.size();
}

}  // namespace mayfly::json
