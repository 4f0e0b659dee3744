// UpdateTable: billing, throughput, stream, protection, class, encryption, global indexes.
//
// AWS changes tables in the background; here the change is done when UPDATING is answered.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation update_table;
}
