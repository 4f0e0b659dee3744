// Query: the items of one partition of a table or an index, in the order of their sort keys.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation query;

}  // namespace mayfly::compat::operations
