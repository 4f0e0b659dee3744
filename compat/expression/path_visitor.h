// Visits the attribute paths that an expression names. The rules about key attributes and about projections
// use these functions.
//
//   for_each_path(filter, [&](const Path& path) { names.insert(top_level_name(path)); });
#pragma once

#include <functional>
#include <string>

#include "compat/syntax/ast.h"

namespace mayfly::compat::expression {

using PathVisitor = std::function<void(const Path&)>;

// Visits the paths in the order in which they are written.
void for_each_path(const Condition& condition, const PathVisitor& visit);
// Does the same, but skips the branches of OR.
void for_each_path_outside_or(const Condition& condition, const PathVisitor& visit);
// Visits the paths that the update changes and the paths that it reads. The paths of SET come first, followed
// by those of REMOVE, ADD and DELETE.
void for_each_path(const Update& update, const PathVisitor& visit);

inline const std::string& top_level_name(const Path& path) {
  return std::get<std::string>(path.elements.front());
}
inline bool is_nested(const Path& path) { return path.elements.size() > 1; }

}  // namespace mayfly::compat::expression
