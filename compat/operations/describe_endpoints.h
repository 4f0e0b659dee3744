// DescribeEndpoints: the address by which the client reached us.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation describe_endpoints;
}
