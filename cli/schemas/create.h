// Creates the tables of schemas before the first request is served.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/schemas/schema.h"
#include "compat/emulator.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// Receive a sentence each.
struct Reports {
  std::function<void(const std::string&)> notice;   // what became of a table
  std::function<void(const std::string&)> warning;  // what of its definition was left out
};

// A table that exists already (in a data directory) is left as it is, and gets no items. Tags that DynamoDB
// would refuse are left out. The error says which request failed, where it comes from, and AWS's message.
Expected<void, std::string> create_tables(compat::Emulator& emulator, const std::vector<TableSchema>& schemas,
                                          const SchemaContext& context, const Reports& reports);

}  // namespace mayfly::schemas
