#include "cli/aws_options.h"

#include <CLI/CLI.hpp>

namespace mayfly::http {

void add_aws_options(CLI::App& command, aws::Given& given) {
  command
      .add_option(
          "--endpoint", given.endpoint,
          "The endpoint; without it, AWS_ENDPOINT_URL_DYNAMODB, the profile's, or AWS's of the region")
      ->type_name("URL");
  command.add_option("--region", given.region,
                     "Region; without it, AWS_REGION, AWS_DEFAULT_REGION or the profile's");
  command.add_option("--profile", given.profile,
                     "Profile of ~/.aws/config and ~/.aws/credentials; without it, AWS_PROFILE");
  command
      .add_option("--ca-file", given.ca_file,
                  "Whose certificates an https:// endpoint may show; without it, the system's issuers'")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  command
      .add_option("--account", given.account, "On Mayfly: account of twelve digits; without it, the key's")
      ->envname("MAYFLY_ACCOUNT");
}

}  // namespace mayfly::http
