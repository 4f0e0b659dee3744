// DescribeLimits: the quotas that a new account has on AWS.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation describe_limits;
}
