// Prints document paths, and detects the two ways in which the paths of one expression can clash.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compat/syntax/ast.h"

namespace mayfly::compat::expression {

inline constexpr std::size_t path_elements_max = 32;

// Returns the form that messages use: "[a, [3], b]" for a[3].b.
std::string describe(const Path& path);

// Collects the paths of an expression and keeps the first clash of each kind, in DynamoDB's wording:
// - "Two document paths overlap with each other; …": one path equals the other or is a prefix of it.
// - "Two document paths conflict with each other; …": one path uses as a map what the other uses as a list.
class PathSet {
 public:
  void add(Path path);
  [[nodiscard]] const std::string& overlap() const { return overlap_; }    // empty: none
  [[nodiscard]] const std::string& conflict() const { return conflict_; }  // empty: none

 private:
  std::map<std::string, std::vector<Path>, std::less<>> paths_;  // by first name; different names never clash
  std::string overlap_, conflict_;
};

}  // namespace mayfly::compat::expression
