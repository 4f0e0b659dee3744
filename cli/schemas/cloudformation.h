// Reads the tables of a CloudFormation template: AWS::DynamoDB::Table, AWS::DynamoDB::GlobalTable and
// AWS::Serverless::SimpleTable.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
//
// A table without TableName gets its resource's name. Properties that have no effect in Mayfly are ignored:
// policies, KMS keys, Contributor Insights, Kinesis streams, alarms. An auto-scaled capacity is replaced by
// its minimum. Values are converted to their properties' types, as CloudFormation does: 4711 to "4711", "5"
// to 5.
#pragma once

#include <string>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

bool is_cloudformation(const json::Tree& tree);

// Appends the tables in the template's order, except those whose Condition is false. Adds a warning if
// unknown values were replaced by placeholders (intrinsics.h). `file` is for messages. The error is a
// sentence that begins with `file`.
Expected<void, std::string> read_cloudformation(const json::Tree& tree, const std::string& file,
                                                const SchemaContext& context, SchemaFiles& files);

}  // namespace mayfly::schemas
