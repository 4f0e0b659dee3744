// GetRecords: see get_records.cc.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation get_records;

}  // namespace mayfly::compat::operations
