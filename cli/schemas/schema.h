// A table as a project has it written down already, as the requests that make it.
//
// CloudFormation's (YAML or JSON, SAM's and CDK's too), Terraform's plans and states (terraform show -json),
// and DescribeTable's answers or CreateTable's requests: files.h reads each of them into these.
//
//   TableSchema{.where = "template.yaml: Resources.Carts", .table = "carts",
//               .requests = {{"CreateTable", {…}}, {"UpdateTimeToLive", {…}}}}
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compat/wire/json_tree.h"

namespace mayfly::schemas {

struct SchemaRequest {
  std::string operation;
  json::Tree body;
};

struct TableSchema {
  std::string where;                    // for sentences
  std::string table;                    // its name
  std::vector<SchemaRequest> requests;  // in this order, each when the table is ACTIVE after the one before
};

// What a definition may ask for that stands nowhere in it.
struct SchemaContext {
  std::string region = "us-east-1";
  std::string account = "000000000000";
  std::map<std::string, std::string> parameters;  // of templates, by name
};

// The members of `from` that are named, those that it has.
json::Tree members_of(const json::Tree& from, std::initializer_list<const char*> names);

// Templates and plans have numbers and truth values as text, too: "5", "true".
json::Tree with_numbers(json::Tree value);  // each text that is a whole number becomes one, at any depth
bool is_true(const json::Tree* value);      // nullptr: no

SchemaRequest time_to_live(const std::string& table, const std::string& attribute);
SchemaRequest recovery(const std::string& table, const json::Tree* days);  // nullptr: as long as it can be
SchemaRequest replica(const std::string& table, const std::string& region);

}  // namespace mayfly::schemas
