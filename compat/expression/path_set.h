// Document paths: printing, and the two ways in which the paths of one expression may clash.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compat/expression/ast.h"

namespace mayfly::compat::expression {

inline constexpr std::size_t path_elements_max = 32;

// "[a, [3], b]", as messages print a.a[3].b.
std::string describe(const Path& path);

// Collects the paths of an expression. The first clash of each kind is kept, in DynamoDB's words:
// "Two document paths overlap with each other; …" when one path leads to or through the other,
// "Two document paths conflict with each other; …" when one takes for a map what the other takes for a list.
class PathSet {
 public:
  void add(Path path);
  [[nodiscard]] const std::string& overlap() const { return overlap_; }    // empty: none
  [[nodiscard]] const std::string& conflict() const { return conflict_; }  // empty: none

 private:
  std::map<std::string, std::vector<Path>, std::less<>> paths_;  // by their first names: others never clash
  std::string overlap_, conflict_;
};

}  // namespace mayfly::compat::expression
