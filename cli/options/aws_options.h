// The options of commands for any DynamoDB endpoint: its address, region and credentials.
#pragma once

#include "cli/aws/settings.h"

namespace CLI {
class App;
}

namespace mayfly::cli {

// Adds the options to `command`. An option that is not given falls back to the environment and the profile
// (cli/aws/settings.h).
void add_aws_options(CLI::App& command, aws::Given& given);

}  // namespace mayfly::cli
