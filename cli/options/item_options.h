// The options of `mayfly table` and `mayfly item`.
#pragma once

#include "cli/calls/item_command.h"

namespace CLI {
class App;
}

namespace mayfly::cli {

// Parsing one of these commands fills in `command`.
void add_item_commands(CLI::App& app, ItemCommand& command);

}  // namespace mayfly::cli
