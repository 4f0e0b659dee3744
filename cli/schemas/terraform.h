// Reads the tables (aws_dynamodb_table), functions (aws_lambda_function) and their event source mappings
// (aws_lambda_event_source_mapping) of a Terraform plan or state, as printed by `terraform show -json`. The
// output of OpenTofu has the same format.
// https://developer.hashicorp.com/terraform/internals/json-format
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/dynamodb_table
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

bool is_terraform(const json::Tree& tree);

// Appends what all modules define. `file` is for messages.
Expected<void, std::string> read_terraform(const json::Tree& tree, const std::string& file,
                                           const SchemaContext& context, SchemaFiles& files);

}  // namespace mayfly::schemas
