// Checks whether the memory limit (--memory-max) allows more data.
#pragma once

#include <string>

#include "compat/wire/error.h"
#include "engine/database.h"

namespace mayfly::compat {

// Call this function before you create a table, an index, an item or a snapshot. Error: "The server's memory
// limit is reached (8589934592 bytes, set by --memory-max)."
inline Result<void> check_room(const engine::Database& database) {
  if (database.health().has_room()) return {};
  return error::limit_exceeded("The server's memory limit is reached (" +
                               std::to_string(database.health().memory_bytes_max()) +
                               " bytes, set by --memory-max).");
}

}  // namespace mayfly::compat
