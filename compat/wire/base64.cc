#include "compat/wire/base64.h"

#include <array>
#include <cstdint>

namespace mayfly::compat {
namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = no_digit;
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(digits[i])] = i;
  return values;
}
constexpr std::array<std::uint8_t, 256> values = make_values();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.empty()) return std::string();
  const int padding = text.back() != '=' ? 0 : text[text.size() - 2] != '=' ? 1 : 2;

  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const int kept = at + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t value = i < kept ? values[static_cast<unsigned char>(text[at + i])] : 0;
      if (value == no_digit) return std::nullopt;
      group = group << 6 | value;
    }
    for (int i = 0; i < kept - 1; ++i) bytes += static_cast<char>(group >> (16 - 8 * i));
    // The unused bits before the padding must be zero.
    if (kept < 4 && (group & (kept == 3 ? 0xff : 0xffff)) != 0) return std::nullopt;
  }
  return bytes;
}

char* write_base64(char* to, std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(bytes[at])}; };
  std::size_t at = 0;
  for (; bytes.size() - at >= 3; at += 3) {
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = digits[group >> shift & 63];
  }
  if (at == bytes.size()) return to;
  const bool two = bytes.size() - at == 2;
  const std::uint32_t group = byte(at) << 16 | (two ? byte(at + 1) << 8 : 0);
  *to++ = digits[group >> 18];
  *to++ = digits[group >> 12 & 63];
  *to++ = two ? digits[group >> 6 & 63] : '=';
  *to++ = '=';
  return to;
}

void append_base64(std::string& out, std::string_view bytes) {
  const std::size_t before = out.size();
  out.resize(before + base64_bytes(bytes.size()));
  write_base64(out.data() + before, bytes);
}

}  // namespace mayfly::compat
