// Accounts and tables of all regions: all that there are, for what is the server's and not an account's, such
// as metrics, and those of one account, which cost nothing for the others.
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
std::shared_ptr<LiveTable> table_of(const Database& database, TableId table);  // nullptr: it was dropped

}  // namespace mayfly::engine
