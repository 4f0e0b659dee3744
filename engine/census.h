// Every account and table there is, of all regions: for metrics, which are the server's and not an
// account's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/database.h"

namespace mayfly::engine {

std::vector<std::shared_ptr<LiveTable>> every_table(const Database& database);  // by id
std::vector<std::string> every_account(const Database& database);

}  // namespace mayfly::engine
