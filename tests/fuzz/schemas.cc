// Reads a file of definitions of tables and functions as JSON and as YAML, and converts it to requests.
#include <nlohmann/json.hpp>
#include <string>

#include "cli/schemas/cloudformation.h"
#include "cli/schemas/description.h"
#include "cli/schemas/terraform.h"
#include "cli/schemas/workbench.h"
#include "cli/schemas/yaml.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {

namespace {

void read_tables(const json::Tree& tree) {
  const schemas::SchemaContext context{.functions = true};
  schemas::SchemaFiles files;
  bool is_read = true;
  if (schemas::is_cloudformation(tree)) {
    is_read = static_cast<bool>(schemas::read_cloudformation(tree, "f", context, files));
  } else if (schemas::is_workbench(tree)) {
    is_read = static_cast<bool>(schemas::read_workbench(tree, "f", files.tables));
  } else if (schemas::is_terraform(tree)) {
    is_read = static_cast<bool>(schemas::read_terraform(tree, "f", context, files));
  } else if (schemas::is_description(tree)) {
    (void)schemas::read_descriptions(tree, "f", "us-east-1");
  }
  if (!is_read) return;
  for (const schemas::MappingSchema& mapping : files.mappings)
    must(schemas::table_of_stream(mapping.stream).has_value(), "a mapping reads a table's stream",
         mapping.where);
  for (const schemas::TableSchema& table : files.tables) {
    must(!table.requests.empty() && table.requests.front().operation == "CreateTable",
         "a table's first request is CreateTable", table.where);
    for (const schemas::SchemaRequest& request : table.requests)
      must(json::parse_tree(json::print(request.body)).has_value(), "a request is JSON",
           json::print(request.body));
  }
}

}  // namespace

void fuzz_schemas(std::string_view input) {
  const std::string text(input);
  if (const auto tree = json::parse_tree(text)) read_tables(*tree);
  const auto yaml = schemas::parse_yaml(text);
  if (!yaml) {
    must(!yaml.error().empty(), "an error has a message");
    return;
  }
  const std::string printed = json::print(*yaml);
  const auto again = json::parse_tree(printed);
  must(again && json::print(*again) == printed, "a tree read from YAML can be printed as JSON", printed);
  read_tables(*yaml);
}

}  // namespace mayfly::testing
