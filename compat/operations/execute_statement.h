// ExecuteStatement: one PartiQL statement, a page of what it selects or the one item that it writes.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation execute_statement;

}  // namespace mayfly::compat::operations
