// UpdateTimeToLive, DescribeTimeToLive.
//
// The change is done when it is answered: ENABLED and DISABLED, never ENABLING or DISABLING.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation update_time_to_live;
extern const Operation describe_time_to_live;
}  // namespace mayfly::compat::operations
