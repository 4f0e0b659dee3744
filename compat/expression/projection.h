// The parts of an item that a ProjectionExpression or AttributesToGet names; lists are compacted.
#pragma once

#include "compat/expression/ast.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::expression {

engine::Item project(const Projection& projection, const engine::Item& item);

}  // namespace mayfly::compat::expression
