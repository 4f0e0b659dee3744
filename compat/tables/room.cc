#include "compat/tables/room.h"

#include <string>

namespace mayfly::compat {

Result<void> check_room(const engine::Database& database) {
  if (database.health().has_room()) return {};
  return error::limit_exceeded("The server's memory limit is reached (" +
                               std::to_string(database.health().memory_bytes_max()) +
                               " bytes, set by --memory-max).");
}

}  // namespace mayfly::compat
