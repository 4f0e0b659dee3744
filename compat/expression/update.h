// Applies an UpdateExpression (or what AttributeUpdates is lowered to) to an item.
#pragma once

#include <string>
#include <vector>

#include "compat/expression/ast.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::expression {

// The item after the update. All right-hand sides see the item as it was. Errors are ValidationExceptions:
// "The provided expression refers to an attribute that does not exist in the item", …, and last
// update_too_large(). If the item does not exist yet, `old_item` is its key, and REMOVE takes any path.
//
// An update that is too large is refused before anything is built, so that its cost, in time and in memory,
// is that of the item and of the largest item that there may be, however often it names a value.
Result<engine::Item> apply(const Update& update, const engine::Item& old_item, bool item_exists = true);

// "Item size to update has exceeded the maximum allowed size"
Unexpected<Error> update_too_large();

// The names of the top-level attributes that the update touches, sorted: rules on keys look at these.
std::vector<std::string> touched_attributes(const Update& update);

// What UPDATED_OLD (of the old item) and UPDATED_NEW (of the new one) return: the parts at the update's
// paths.
engine::Item updated_parts(const Update& update, const engine::Item& item);

}  // namespace mayfly::compat::expression
