// Every table there is, of all accounts and regions: for metrics, which are the server's and not an
// account's.
#pragma once

#include <memory>
#include <vector>

#include "engine/database.h"

namespace mayfly::engine {

std::vector<std::shared_ptr<LiveTable>> every_table(const Database& database);  // by id

}  // namespace mayfly::engine
