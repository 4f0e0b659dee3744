#include "engine/census.h"

#include "engine/parts.h"

namespace mayfly::engine {

std::vector<std::shared_ptr<LiveTable>> every_table(const Database& database) {
  return database.parts().catalog.tables();
}

}  // namespace mayfly::engine
