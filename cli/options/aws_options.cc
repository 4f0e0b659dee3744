#include "cli/options/aws_options.h"

#include <CLI/CLI.hpp>

namespace mayfly::cli {

void add_aws_options(CLI::App& command, aws::Given& given) {
  command
      .add_option(
          "--endpoint", given.endpoint,
          "DynamoDB endpoint (default: AWS_ENDPOINT_URL_DYNAMODB, the profile's endpoint or AWS's endpoint)")
      ->type_name("URL");
  command
      .add_option("--region", given.region,
                  "Region (default: AWS_REGION, AWS_DEFAULT_REGION or the profile's)")
      ->type_name("NAME");
  command
      .add_option("--profile", given.profile,
                  "Profile in ~/.aws/config and ~/.aws/credentials (default: AWS_PROFILE)")
      ->type_name("NAME");
  command
      .add_option("--ca-file", given.ca_file,
                  "Trust the certificates in FILE for https:// (default: the system's)")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  command
      .add_option("--account", given.account,
                  "Account, if the endpoint is a Mayfly server (default: the access key's account)")
      ->envname("MAYFLY_ACCOUNT")
      ->type_name("ID");
}

}  // namespace mayfly::cli
