// The tables of a CloudFormation template: AWS::DynamoDB::Table, AWS::DynamoDB::GlobalTable,
// AWS::Serverless::SimpleTable.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
//
// A table without TableName is called as its resource is. What has no meaning here is left out: policies,
// keys of KMS, Contributor Insights, alarms, auto scaling (its least capacity is what the table has).
#pragma once

#include <string>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

bool is_cloudformation(const json::Tree& tree);

// In the template's order; resources whose Condition does not hold are left out. `file` is for sentences.
Expected<std::vector<TableSchema>, std::string> read_cloudformation(const json::Tree& tree,
                                                                    const std::string& file,
                                                                    const SchemaContext& context);

}  // namespace mayfly::schemas
