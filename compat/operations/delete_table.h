// DeleteTable: the table is gone when DELETING is answered.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation delete_table;
}
