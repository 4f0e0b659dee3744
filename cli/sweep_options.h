// `mayfly sweep` on the command line, with its plan and its backfill.
#pragma once

#include "cli/sweep/sweep_command.h"

namespace CLI {
class App;
}

namespace mayfly::http {

// When one of them is parsed, `command` says which.
void add_sweep_commands(CLI::App& app, sweep::SweepCommand& command);

}  // namespace mayfly::http
