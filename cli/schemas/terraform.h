// Reads the tables (aws_dynamodb_table) of a Terraform plan or state, as printed by `terraform show -json`.
// The output of OpenTofu has the same format.
// https://developer.hashicorp.com/terraform/internals/json-format
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/dynamodb_table
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

bool is_terraform(const json::Tree& tree);

// Reads the tables of all modules. `file` is for messages.
Expected<std::vector<TableSchema>, std::string> read_terraform(const json::Tree& tree,
                                                               const std::string& file);

}  // namespace mayfly::schemas
