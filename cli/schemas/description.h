// Reads tables in the format of `aws dynamodb describe-table` or of `create-table --cli-input-json`: one
// table, a list of tables, or {"Tables":[…]}. In addition to "Table", an object may have the output of
// describe-time-to-live, describe-continuous-backups and list-contributor-insights.
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

bool is_description(const json::Tree& tree);

// `file` is for messages. Replicas in regions other than `region` are created too.
Expected<std::vector<TableSchema>, std::string> read_descriptions(const json::Tree& tree,
                                                                  const std::string& file,
                                                                  const std::string& region);

}  // namespace mayfly::schemas
