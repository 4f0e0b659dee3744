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

std::vector<std::shared_ptr<LiveTable>> tables_of(const Database& database, std::string_view account) {
  return database.parts().catalog.tables(account);
}

std::shared_ptr<LiveTable> table_of(const Database& database, TableId table) {
  return database.parts().catalog.find(table);
}

}  // namespace mayfly::engine
