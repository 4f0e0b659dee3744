// Recognizes ASCII letters and digits, and joins strings into lists.
//
//   joined(tables, ", ", &Table::name)  == "carts, sessions"
//   alternatives(level_names)           == "debug, info or off"
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace mayfly::engine {

// The results do not depend on the locale, and are false for letters and digits of other scripts.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

// `text_of` returns the string for an element. Empty strings at the beginning are not followed by a
// separator.
template <class Range, class Text = std::identity>
std::string joined(const Range& range, std::string_view separator, const Text& text_of = {}) {
  std::string all;
  for (const auto& each : range) {
    if (!all.empty()) all += separator;
    all += std::invoke(text_of, each);
  }
  return all;
}

template <class Range>
std::string alternatives(const Range& texts) {
  std::string all;
  auto left = std::size(texts);
  for (const auto& text : texts) {
    if (!all.empty()) all += left == 1 ? " or " : ", ";
    all += text;
    --left;
  }
  return all;
}

}  // namespace mayfly::engine
