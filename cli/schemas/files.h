// Files of table definitions, whichever kind each of them is of.
//
//   read_schema_files("template.yaml", context)   // or a directory of such files
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// A file must have tables; of a directory all files that end in .json, .yaml, .yml or .template are read, by
// name, and those that are of another kind are passed by. The error is a sentence with the file's name.
Expected<std::vector<TableSchema>, std::string> read_schema_files(const std::string& path,
                                                                  const SchemaContext& context);

}  // namespace mayfly::schemas
