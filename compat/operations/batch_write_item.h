// BatchWriteItem: up to twenty-five puts and deletes, in any number of tables.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation batch_write_item;

}  // namespace mayfly::compat::operations
