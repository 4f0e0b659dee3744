// Reads aws_lambda_function and aws_lambda_event_source_mapping.
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lambda_event_source_mapping
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "cli/schemas/terraform_plan.h"

namespace mayfly::schemas {

// Appends what the plan defines. A mapping whose stream or function the plan does not tell is left out, with
// a warning. `file` is for messages, and names the directory in which Terraform ran.
void read_terraform_functions(const Plan& plan, const std::string& file, const SchemaContext& context,
                              SchemaFiles& files);

}  // namespace mayfly::schemas
