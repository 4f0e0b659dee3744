// Evaluates conditions on items. A missing item is evaluated as an item without attributes.
#pragma once

#include "compat/syntax/ast.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

bool evaluate(const Condition& condition, const engine::Item& item);

// Returns the value at a path, or nullptr if the item has none.
const engine::AttributeValue* find(const Path& path, const engine::Item& item);
// Returns the value at the path's first `length` elements, or nullptr if the item has none.
const engine::AttributeValue* find_prefix(const Path& path, std::size_t length, const engine::Item& item);

}  // namespace mayfly::compat::expression
