// Reads files of table definitions, in any format that schema.h lists.
//
//   read_schema_files("template.yaml", context)   // or a directory of such files
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

// A single file must define tables. The files of a directory are read in the order of their names:
// - Only files whose names end in .json, .yaml, .yml or .template are read. Files without tables are skipped.
// - If `cdk synth` wrote the directory, only its templates (*.template.json) and those of nested assemblies
//   are read.
// - A file that cannot be read causes a warning, or an error if context.strict is set.
// The error is a sentence with the file's name.
Expected<SchemaFiles, std::string> read_schema_files(const std::string& path, const SchemaContext& context);

}  // namespace mayfly::schemas
