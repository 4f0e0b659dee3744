#include "http/requests/header_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace mayfly::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_named(std::string_view sent, std::string_view name) {
  constexpr std::uint64_t small = 0x2020202020202020;
  const auto differs = [&](auto word, std::size_t at) {
    auto expected = word;
    std::memcpy(&word, sent.data() + at, sizeof word);
    std::memcpy(&expected, name.data() + at, sizeof word);
    return (word | static_cast<decltype(word)>(small)) != expected;
  };
  if (sent.size() != name.size()) return false;
  if (sent.size() < sizeof(std::uint64_t)) {
    if (sent.size() < sizeof(std::uint32_t)) return equals_ignoring_case(sent, name);
    return !differs(std::uint32_t{}, 0) && !differs(std::uint32_t{}, sent.size() - sizeof(std::uint32_t));
  }
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= sent.size(); at += sizeof(std::uint64_t))
    if (differs(std::uint64_t{}, at)) return false;
  return !differs(std::uint64_t{}, sent.size() - sizeof(std::uint64_t));
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace mayfly::http
