#include "compat/lambda/case_folding.h"

namespace mayfly::compat::triggers {
namespace {

// Unicode arranges the letters of an alphabet either as pairs of an uppercase and a lowercase letter or as
// two separate rows.
char32_t lower(char32_t c) {
  if (c >= U'A' && c <= U'Z') return c + 32;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;                  // À to Þ
  if (c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) return c | 1;  // Ā ā: uppercase is even
  if (c >= 0x139 && c <= 0x148) return c % 2 == 1 ? c + 1 : c;             // Ĺ ĺ: uppercase is odd
  if (c >= 0x14A && c <= 0x177) return c | 1;
  if (c == 0x178) return 0xFF;  // Ÿ
  if (c >= 0x179 && c <= 0x17E) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) return c + 32;  // Α to Ω
  if (c >= 0x410 && c <= 0x42F) return c + 32;                // А to Я
  if (c >= 0x400 && c <= 0x40F) return c + 80;                // Ѐ to Џ
  return c;
}

}  // namespace

// All the letters that lower() converts take one or two bytes, before and after folding, so longer characters
// are copied unchanged.
std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      out += static_cast<char>(lower(first));
    } else if (first >= 0xC0 && first < 0xE0 && i + 1 < text.size()) {
      const char32_t c = lower((first & 0x1Fu) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3Fu));
      out += static_cast<char>(0xC0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace mayfly::compat::triggers
