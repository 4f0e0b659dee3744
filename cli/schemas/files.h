// Reads files of table definitions, of any of the kinds in schema.h.
//
//   read_schema_files("template.yaml", context)   // or a directory of such files
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// A single file must define tables. Of a directory, the files that end in .json, .yaml, .yml or .template are
// read in the order of their names; files that define no tables are skipped. Of a directory that `cdk synth`
// wrote, the templates (*.template.json) are read, and those of its nested assemblies. A directory's file
// that cannot be read becomes a warning unless context.strict is set.
// The error is a sentence with the file's name.
Expected<SchemaFiles, std::string> read_schema_files(const std::string& path, const SchemaContext& context);

}  // namespace mayfly::schemas
