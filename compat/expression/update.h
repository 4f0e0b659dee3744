// Applies an UpdateExpression, or lowered AttributeUpdates, to an item.
#pragma once

#include <string>
#include <vector>

#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

// Returns the updated item. All right-hand sides are evaluated on the old item. Errors are
// ValidationExceptions: "The provided expression refers to an attribute that does not exist in the item", …,
// and finally update_too_large(). If the item does not exist yet, `old_item` is its key, and REMOVE accepts
// any path.
//
// An update whose result is too large is rejected before anything is built. Time and memory are therefore
// bounded by the size of the item plus the maximum item size, even if the update names a value many times.
Result<engine::Item> apply(const Update& update, const engine::Item& old_item, bool item_exists = true);

// Returns the error "Item size to update has exceeded the maximum allowed size".
Unexpected<Error> update_too_large();

// Returns the sorted names of the top-level attributes that the update changes, for the rules on keys.
std::vector<std::string> touched_attributes(const Update& update);

// Returns the parts of the item at the update's paths. UPDATED_OLD returns the parts of the old item, and
// UPDATED_NEW the parts of the new item.
engine::Item updated_parts(const Update& update, const engine::Item& item);

}  // namespace mayfly::compat::expression
