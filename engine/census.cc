#include "engine/census.h"

#include "engine/parts.h"

namespace mayfly::engine {

std::vector<std::shared_ptr<LiveTable>> every_table(const Database& database) {
  return database.parts().catalog.tables();
}

std::vector<std::string> every_account(const Database& database) {
  std::vector<std::string> ids;
  for (const Account* account : database.parts().accounts.all()) ids.push_back(account->id());
  return ids;
}

}  // namespace mayfly::engine
