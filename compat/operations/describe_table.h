// DescribeTable: the table as it is, with its counters.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation describe_table;
}
