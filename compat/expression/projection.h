// Extracts the parts of an item that a ProjectionExpression or AttributesToGet names. Lists are compacted.
#pragma once

#include <string>

#include "compat/syntax/ast.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

engine::Item project(const Projection& projection, const engine::Item& item);
// Returns the name that project_flat gives to a part: "b" for a.b, "b[0]" for a.b[0].
std::string flat_name(const Path& path);
// Like project, but returns all parts as top-level attributes.
engine::Item project_flat(const Projection& projection, const engine::Item& item);

}  // namespace mayfly::compat::expression
