// Applies an UpdateExpression (or what AttributeUpdates is lowered to) to an item.
#pragma once

#include <string>
#include <vector>

#include "compat/expression/ast.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::expression {

// The item after the update. All right-hand sides see the item as it was. Errors are ValidationExceptions
// ("The provided expression refers to an attribute that does not exist in the item", …). If the item does not
// exist yet, `old_item` is its key, and REMOVE takes any path.
Result<engine::Item> apply(const Update& update, const engine::Item& old_item, bool item_exists = true);

// The names of the top-level attributes that the update touches, sorted: rules on keys look at these.
std::vector<std::string> touched_attributes(const Update& update);

// What UPDATED_OLD (of the old item) and UPDATED_NEW (of the new one) return: the parts at the update's
// paths.
engine::Item updated_parts(const Update& update, const engine::Item& item);

}  // namespace mayfly::compat::expression
