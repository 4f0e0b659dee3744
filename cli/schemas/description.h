// Tables as `aws dynamodb describe-table` prints them, or as `create-table --cli-input-json` takes them; one,
// a list of them, or {"Tables":[…]}. Beside "Table" there may be what describe-time-to-live,
// describe-continuous-backups and list-contributor-insights print.
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

bool is_description(const json::Tree& tree);

// `file` is for sentences. `region`: replicas elsewhere are made, too.
Expected<std::vector<TableSchema>, std::string> read_descriptions(const json::Tree& tree,
                                                                  const std::string& file,
                                                                  const std::string& region);

}  // namespace mayfly::schemas
