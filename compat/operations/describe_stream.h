// DescribeStream: see describe_stream.cc.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation describe_stream;

}  // namespace mayfly::compat::operations
