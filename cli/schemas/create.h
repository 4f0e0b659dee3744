// Makes the tables of schemas, before anybody can ask for them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/schemas/schema.h"
#include "compat/emulator.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// A table that is there already (in a data directory) stays as it is. `report` is told of each table, a
// sentence. The error says which request failed, where it comes from, and AWS's message.
Expected<void, std::string> create_tables(compat::Emulator& emulator, const std::vector<TableSchema>& schemas,
                                          const SchemaContext& context,
                                          const std::function<void(const std::string&)>& report);

}  // namespace mayfly::schemas
