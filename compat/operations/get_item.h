// GetItem: one item, or parts of it, by its key.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation get_item;

}  // namespace mayfly::compat::operations
