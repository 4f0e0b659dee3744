// BatchExecuteStatement: up to 25 PartiQL statements on single items, each with an outcome of its own.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation batch_execute_statement;

}  // namespace mayfly::compat::operations
