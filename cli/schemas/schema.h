// A table that a project defines, as the requests that create it.
//
// files.h reads CloudFormation templates (YAML or JSON, including those of SAM, CDK and the Serverless
// Framework), `terraform show -json`, NoSQL Workbench models, and DescribeTable responses or CreateTable
// requests.
//
//   TableSchema{.where = "template.yaml: Resources.Carts", .table = "carts",
//               .requests = {{"CreateTable", {…}}, {"UpdateTimeToLive", {…}}}}
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
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

struct SchemaFiles {
  std::vector<TableSchema> tables;
  std::vector<std::string> warnings;  // sentences with the file's name
};

// Values that a definition uses but does not contain.
struct SchemaContext {
  std::string region = "us-east-1";
  std::string account = "000000000000";
  // By name: a template's parameter, "Role.Arn" for Fn::GetAtt, the name of an import, "resolve:ssm:/path".
  std::map<std::string, std::string> parameters;
  bool strict = false;  // an unreadable file in a directory is an error, not a warning
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

SchemaRequest time_to_live(const std::string& table, const std::string& attribute);
SchemaRequest recovery(const std::string& table, const json::Tree* days);  // nullptr: the maximum
SchemaRequest replica(const std::string& table, const std::string& region);

}  // namespace mayfly::schemas
