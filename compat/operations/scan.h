// Scan: all items of a table or an index, or of one of its segments, in the order of their partitions' hashes.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation scan;

}  // namespace mayfly::compat::operations
