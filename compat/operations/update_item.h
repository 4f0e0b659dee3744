// UpdateItem: changes attributes of an item, which it creates if there is none.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation update_item;

}  // namespace mayfly::compat::operations
