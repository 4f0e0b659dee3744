// Substring search in linear time: the number of steps is proportional to the sum of the two strings'
// lengths, regardless of their contents. This matters because both the items that a filter reads and the
// part that it searches for come from the client.
//
// The algorithm is Knuth-Morris-Pratt. Rejected: std::string::find, which starts over after each position
// where the part began to match. With it, searching a 400 KB item "aaa…" for a 200 KB part "aaa…ab" takes
// 20,000,000,000 comparisons.
//
//   has_part(text, part)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mayfly::compat::expression {

// Requires: `Text` has operator[] and size(), and its symbols can be compared with ==.
template <class Text>
bool has_part(const Text& text, const Text& part) {
  const std::size_t length = part.size();
  if (length == 0) return true;
  if (text.size() < length) return false;
  // borders[i] is the length of the longest proper prefix of part[0..i] that is also its suffix.
  std::vector<std::uint32_t> borders(length, 0);
  const auto longer = [&](std::uint32_t matched, const auto& symbol) {
    while (matched > 0 && !(part[matched] == symbol)) matched = borders[matched - 1];
    return part[matched] == symbol ? matched + 1 : 0;
  };
  for (std::size_t i = 1; i < length; ++i) borders[i] = longer(borders[i - 1], part[i]);
  std::uint32_t matched = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    matched = longer(matched, text[i]);
    if (matched == length) return true;
  }
  return false;
}

}  // namespace mayfly::compat::expression
