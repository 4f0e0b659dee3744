#include "compat/tables/room.h"

#include <string>

namespace mayfly::compat {

Result<void> check_room(const engine::Database& database) {
  if (database.health().has_room()) return {};
  return error::limit_exceeded("This server holds as much in memory as it may: " +
                               std::to_string(database.health().memory_bytes_max()) + " bytes (--memory-max).");
}

}  // namespace mayfly::compat
