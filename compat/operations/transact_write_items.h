// TransactWriteItems: up to a hundred puts, updates, deletes and checks, all of them or none.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation transact_write_items;

}  // namespace mayfly::compat::operations
