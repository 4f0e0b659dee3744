// The options of `mayfly sweep`, `sweep plan` and `sweep backfill`.
#pragma once

#include "cli/sweep/sweep_command.h"

namespace CLI {
class App;
}

namespace mayfly::cli {

// Parsing one of these commands fills in `command`.
void add_sweep_commands(CLI::App& app, sweep::SweepCommand& command);

}  // namespace mayfly::cli
