// Lists accounts and tables across all regions. every_table and every_account cover the whole server, for
// metrics and the like. tables_of covers one account; its cost does not depend on the other accounts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/database.h"

namespace mayfly::engine {

std::vector<std::shared_ptr<LiveTable>> every_table(const Database& database);  // by id
std::vector<std::string> every_account(const Database& database);
std::vector<std::shared_ptr<LiveTable>> tables_of(const Database& database,
                                                  std::string_view account);   // by id
std::shared_ptr<LiveTable> table_of(const Database& database, TableId table);  // nullptr if it was dropped

}  // namespace mayfly::engine
