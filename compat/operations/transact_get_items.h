// TransactGetItems: up to a hundred items as they were at one instant.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation transact_get_items;

}  // namespace mayfly::compat::operations
