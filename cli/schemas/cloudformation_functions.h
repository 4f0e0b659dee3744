// Reads the functions of a CloudFormation template and their event source mappings on tables' streams:
// AWS::Lambda::Function, AWS::Lambda::EventSourceMapping, and AWS::Serverless::Function with its DynamoDB
// events and the template's Globals.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-property-function-dynamodb.html
#pragma once

#include <string>

#include "cli/schemas/intrinsics.h"
#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

// Appends what the resources define, except those whose Condition is false. `values` is the template of
// `tree`. `file` is for messages, and names the directory of relative paths.
Expected<void, std::string> read_cloudformation_functions(const json::Tree& tree, Template& values,
                                                          const std::string& file, SchemaFiles& files);

}  // namespace mayfly::schemas
