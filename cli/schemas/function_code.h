// Finds the code of functions that a build tool has left next to a description.
//
//   code_at("/app/.aws-sam/build", "HelloFunction", built_by)   // a path relative to the description
//   uploaded_code("/app/.serverless", "serverless/app/dev/1700000000000/app.zip", built_by)
#pragma once

#include <string>
#include <string_view>

#include "cli/schemas/schema.h"

namespace mayfly::schemas {

// `built_by` ends the sentence for missing code: "Run 'sam build' and pass .aws-sam/build/template.yaml".
FunctionCode code_at(const std::string& directory, const std::string& path, std::string_view built_by);

// The file that would be uploaded to S3 under `key`. The Serverless Framework leaves it next to the template,
// under the last part of the key. CDK leaves a directory or a file with "asset." before that name.
FunctionCode uploaded_code(const std::string& directory, const std::string& key, std::string_view built_by);

FunctionCode no_code(std::string problem);
FunctionCode container_image();

// The directory that contains a file; "." if the path has no directory.
std::string directory_of(const std::string& file);

// Where each tool leaves what it builds.
inline constexpr std::string_view built_by_sam =
    "Run 'sam build' and pass --schema .aws-sam/build/template.yaml";
inline constexpr std::string_view built_by_any =
    "Pass the description that the build tool leaves next to the code: .aws-sam/build/template.yaml, "
    "cdk.out, "
    ".serverless/cloudformation-template-update-stack.json";
inline constexpr std::string_view built_by_terraform =
    "Build it as the project does, and start Mayfly in the directory in which terraform ran";

}  // namespace mayfly::schemas
