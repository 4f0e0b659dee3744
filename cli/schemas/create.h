// Creates the tables and event source mappings of schemas before the server accepts requests.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/schemas/schema.h"
#include "compat/emulator.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

// Each function receives one sentence per call.
struct Reports {
  std::function<void(const std::string&)> notice;   // the result for a table or a mapping
  std::function<void(const std::string&)> warning;  // a part of a definition that was left out
};

// A table that already exists (in a data directory) is not changed and gets no items. Tags that DynamoDB
// would reject are left out. The error says which request failed and where it comes from, and quotes AWS's
// message.
Expected<void, std::string> create_tables(compat::Emulator& emulator, const std::vector<TableSchema>& schemas,
                                          const SchemaContext& context, const Reports& reports);

// A mapping that already exists is not changed. The error also says if a mapping's table does not exist, or
// has no stream.
Expected<void, std::string> create_mappings(compat::Emulator& emulator,
                                            const std::vector<MappingSchema>& mappings,
                                            const SchemaContext& context, const Reports& reports);

}  // namespace mayfly::schemas
