// UpdateTable: billing, throughput, stream, protection, class, encryption, global indexes.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation update_table;
}
