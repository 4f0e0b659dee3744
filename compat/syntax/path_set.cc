#include "compat/syntax/path_set.h"

#include <algorithm>
#include <utility>

namespace mayfly::compat::expression {
namespace {

enum class Clash : std::uint8_t { none, overlap, conflict };

Clash compare(const Path& one, const Path& two) {
  const std::size_t shared = std::min(one.elements.size(), two.elements.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (one.elements[i].index() != two.elements[i].index()) return Clash::conflict;
    if (one.elements[i] != two.elements[i]) return Clash::none;
  }
  return Clash::overlap;
}

}  // namespace

std::string describe(const Path& path) {
  std::string out = "[";
  for (const Path::Element& element : path.elements) {
    if (out.size() > 1) out += ", ";
    if (const auto* name = std::get_if<std::string>(&element)) {
      out += *name;
    } else {
      out += '[' + std::to_string(std::get<std::uint32_t>(element)) + ']';
    }
  }
  out += ']';
  return out;
}

void PathSet::add(Path path) {
  if (!overlap_.empty()) return;
  std::vector<Path>& alike = paths_[std::get<std::string>(path.elements.front())];
  for (const Path& earlier : alike) {
    const Clash clash = compare(earlier, path);
    if (clash == Clash::none) continue;
    if (clash == Clash::overlap) {
      overlap_ =
          "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
          "one: " +
          describe(earlier) + ", path two: " + describe(path);
      return;
    }
    if (conflict_.empty()) {
      conflict_ =
          "Two document paths conflict with each other; must remove or rewrite one of these paths; path "
          "one: " +
          describe(earlier) + ", path two: " + describe(path);
    }
  }
  alike.push_back(std::move(path));
}

}  // namespace mayfly::compat::expression
