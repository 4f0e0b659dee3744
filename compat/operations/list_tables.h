// ListTables: names in order, at most 100 a page.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation list_tables;
}
