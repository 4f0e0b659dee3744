// GetShardIterator: see get_shard_iterator.cc.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation get_shard_iterator;

}  // namespace mayfly::compat::operations
