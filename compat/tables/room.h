// Checks the memory limit.
//
//   CHECK_OK(check_room(context.database));   // before a table, an index, an item or a snapshot is made
#pragma once

#include "compat/wire/error.h"
#include "engine/database.h"

namespace mayfly::compat {

// LimitExceededException: "The server's memory limit is reached (8589934592 bytes, set by --memory-max)."
Result<void> check_room(const engine::Database& database);

}  // namespace mayfly::compat
