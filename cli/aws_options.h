// The options of the commands that ask a DynamoDB endpoint, whichever that is: where it is, and who asks.
#pragma once

#include "cli/aws/settings.h"

namespace CLI {
class App;
}

namespace mayfly::http {

// What is not given is for the environment and the profile to say (cli/aws/settings.h).
void add_aws_options(CLI::App& command, aws::Given& given);

}  // namespace mayfly::http
