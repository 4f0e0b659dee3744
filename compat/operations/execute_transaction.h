// ExecuteTransaction: up to 100 PartiQL statements, all of them reads or all of them writes and EXISTS; all or none.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation execute_transaction;

}  // namespace mayfly::compat::operations
