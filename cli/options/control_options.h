// The options of the commands that make one call to the control API. There is one command for each call.
#pragma once

#include <string>
#include <vector>

#include "cli/calls/commands.h"

namespace CLI {
class App;
}

namespace mayfly::cli {

// Parsing one of these commands fills in `command`.
void add_control_commands(CLI::App& app, ControlCommand& command);

// The names of faults, as accepted by FAULT and by a rule's member "fault".
const std::vector<std::string>& fault_kinds();

// Adds --url, --ca-file, --account and --region.
void add_server_options(CLI::App& command, ServerPlace& place);
void add_json_option(CLI::App& command, bool& json);

}  // namespace mayfly::cli
