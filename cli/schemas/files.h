// Reads files of table definitions, of any of the kinds in schema.h.
//
//   read_schema_files("template.yaml", context)   // or a directory of such files
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// A single file must define tables. A directory is read file by file, in the order of their names:
// - The files that end in .json, .yaml, .yml or .template are read. Files without tables are skipped.
// - If `cdk synth` wrote the directory, only its templates (*.template.json) are read, and those of nested
//   assemblies.
// - A file that cannot be read becomes a warning unless context.strict is set.
// The error is a sentence with the file's name.
Expected<SchemaFiles, std::string> read_schema_files(const std::string& path, const SchemaContext& context);

}  // namespace mayfly::schemas
