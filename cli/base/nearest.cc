#include "cli/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace mayfly::cli {
namespace {

constexpr std::size_t word_bytes_max = 256;

// Returns the minimum number of changes that turn `from` into `to`. A change adds, removes or replaces a
// letter, or swaps two neighboring letters.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), row(to.size() + 1), next(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      next[j + 1] = std::min({row[j] + (from[i] == to[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(row, next);
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string found;
  if (word.size() > word_bytes_max) return found;
  std::size_t least = word.size() < 8 ? 3 : 4;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word_bytes_max) continue;
    const std::size_t differ = distance(word, candidate);
    if (differ >= least || 2 * differ >= candidate.size()) continue;
    least = differ;
    found = candidate;
  }
  return found;
}

}  // namespace mayfly::cli
