// The options of `mayfly invoke`, `mayfly event` and `mayfly function run`.
#pragma once

#include <string>
#include <vector>

#include "cli/functions/event_command.h"
#include "cli/functions/function_run.h"
#include "cli/functions/invoke_command.h"

namespace CLI {
class App;
}

namespace mayfly::cli {

// Parsing one of these commands fills in the command. `program` is the program of `function run`, if it is
// given after --.
// Requires: `app` has the command group `function` (control_options.h).
void add_function_commands(CLI::App& app, InvokeCommand& invoke, EventCommand& event, FunctionRun& run,
                           const std::vector<std::string>& program);

// If `words` are a `function run`, cuts them at -- and returns what follows, the program and its arguments.
// CLI11 would split an argument such as "[1,2]".
std::vector<std::string> cut_program(std::vector<std::string>& words);

// Returns what is wrong with a NAME=VALUE for a function's environment, or an empty string.
std::string check_function_env(const std::string& text);

}  // namespace mayfly::cli
