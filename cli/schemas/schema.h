// The tables that a project defines, as the requests that create them, and its functions on their streams.
//
// files.h reads CloudFormation templates (YAML or JSON, including those of SAM, CDK and the Serverless
// Framework), `terraform show -json`, NoSQL Workbench models, and DescribeTable responses or CreateTable
// requests.
//
//   TableSchema{.where = "template.yaml: Resources.Carts", .table = "carts",
//               .requests = {{"CreateTable", {…}}, {"UpdateTimeToLive", {…}}}}
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json_tree.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

struct SchemaRequest {
  std::string operation;
  json::Tree body;
};

struct TableSchema {
  std::string where;  // for messages
  std::string table;  // the table's name
  // CreateTable first, then settings, replicas and items. Each is sent once the table is ACTIVE again.
  std::vector<SchemaRequest> requests;
};

// Where a function's code is.
struct FunctionCode {
  std::string path;     // of a directory, a ZIP file or a jar; empty: see the other members
  std::string text;     // the code itself, written into a template
  std::string problem;  // a sentence that says why the code is missing: "its code ./build does not exist …"
};

// A Lambda function.
struct FunctionSchema {
  std::string where;  // for messages
  std::string name;
  std::string runtime, handler;  // "python3.12", "app.handler"
  FunctionCode code;
  std::map<std::string, std::string> variables;
  std::int64_t seconds_max = 3, memory_mb = 128;  // Lambda's defaults
  bool has_layers = false;
};

// An event source mapping.
struct MappingSchema {
  std::string where;   // for messages
  std::string stream;  // a table's stream, as an ARN whose label is not known yet
  json::Tree request;  // CreateEventSourceMapping without EventSourceArn
};

struct SchemaFiles {
  std::vector<TableSchema> tables;
  std::vector<FunctionSchema> functions;  // these two only if SchemaContext::functions is set
  std::vector<MappingSchema> mappings;
  std::vector<std::string> warnings;  // sentences with the file's name

  void append(SchemaFiles other);
  [[nodiscard]] bool define_nothing() const {
    return tables.empty() && functions.empty() && mappings.empty();
  }
};

// Values that a definition uses but does not contain.
struct SchemaContext {
  std::string region = "us-east-1";
  std::string account = "000000000000";
  // By name: a template's parameter, "Role.Arn" for Fn::GetAtt, the name of an import, "resolve:ssm:/path".
  std::map<std::string, std::string> parameters;
  bool strict = false;     // an unreadable file in a directory is an error, not a warning
  bool functions = false;  // also read functions and event source mappings
};

// Parses --schema-parameter options. In an environment variable, a comma separates options, so text without
// "=" continues the value before it: {"A=1", "Names=x", "y"} is A = "1" and Names = "x,y".
Expected<std::map<std::string, std::string>, std::string> schema_parameters(
    const std::vector<std::string>& options);

// The members of `from` with these names. Missing members are left out.
json::Tree members_of(const json::Tree& from, std::initializer_list<const char*> names);

// Plans and templates may write whole numbers and booleans as text: "5", "true".
json::Tree with_numbers(json::Tree value);  // converts text to whole numbers, at any depth
bool is_true(const json::Tree* value);      // nullptr: false

// The members of CreateEventSourceMapping that Mayfly uses, with numbers and booleans instead of text.
json::Tree mapping_request(const json::Tree& from);
// The name of the table in a stream's ARN, or nullopt if the ARN does not belong to a table's stream.
std::optional<std::string> table_of_stream(std::string_view arn);

SchemaRequest time_to_live(const std::string& table, const std::string& attribute);
SchemaRequest recovery(const std::string& table, const json::Tree* days);  // nullptr: the maximum
SchemaRequest replica(const std::string& table, const std::string& region);

}  // namespace mayfly::schemas
