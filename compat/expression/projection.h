// The parts of an item that a ProjectionExpression or AttributesToGet names; lists are compacted.
#pragma once

#include <string>

#include "compat/expression/ast.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::expression {

engine::Item project(const Projection& projection, const engine::Item& item);
// The same parts beside each other, each named by what its path ends with: a.b as "b", a.b[0] as "b[0]".
std::string flat_name(const Path& path);
engine::Item project_flat(const Projection& projection, const engine::Item& item);

}  // namespace mayfly::compat::expression
