// BatchGetItem: up to a hundred items by their keys, from any number of tables.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation batch_get_item;

}  // namespace mayfly::compat::operations
