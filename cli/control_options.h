// The commands that ask a running server, on the command line: every call of the control API is one.
#pragma once

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace mayfly::http {

// When one of them is parsed, `command` is the call that it means.
void add_control_commands(CLI::App& app, ControlCommand& command);

}  // namespace mayfly::http
