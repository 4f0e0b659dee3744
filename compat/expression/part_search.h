// Whether a text has another as a part, in steps that grow with the two lengths' sum, whatever they hold: the
// items that a filter looks at and the part that it looks for are both the client's.
//
// Knuth, Morris and Pratt's search. A library's (std::string::find) starts anew behind each place where the
// part began to match: a part "aaa…ab" of 200 KB in an item of 400 KB "aaa…" takes it 20,000,000,000
// comparisons.
//
//   has_part(text, part)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mayfly::compat::expression {

// `Text` is indexed and has a size; its symbols are compared by ==.
template <class Text>
bool has_part(const Text& text, const Text& part) {
  const std::size_t length = part.size();
  if (length == 0) return true;
  if (text.size() < length) return false;
  // borders[i]: how long a proper start of part[0..i] is that ends it, too.
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
