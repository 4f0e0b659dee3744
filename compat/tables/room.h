// Checks the memory limit.
//
//   CHECK_OK(check_room(context.database));   // before a table, an index, an item or a snapshot is made
#pragma once

#include "compat/wire/error.h"
#include "engine/database.h"

namespace mayfly::compat {

// LimitExceededException: "This server holds as much in memory as it may: 8589934592 bytes (--memory-max)."
Result<void> check_room(const engine::Database& database);

}  // namespace mayfly::compat
