// DeleteItem: removes an item by its key.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation delete_item;

}  // namespace mayfly::compat::operations
