// Completion in bash, zsh and fish. The scripts only ask the program, which knows its commands and options
// and asks the running server for tables, snapshots, functions and jobs:
//
//   completions(app, "mayfly snapshot restore ")  ==  "1\n2\n"
#pragma once

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace mayfly::http {

// The command that the scripts run: `mayfly __complete 'mayfly clock adv'`.
inline constexpr const char* completing_command = "__complete";

// How long a server may take, and how many of its names are used.
inline constexpr int completion_milliseconds_max = 300;
inline constexpr std::size_t completion_names_max = 500;

// For `source <(mayfly completion bash)`. Requires: `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

// The words that can follow `line`, the command line up to the cursor, one a line; nothing where a file or a
// free value is expected. All of them consist of letters, digits and "_.:-": shells expand what they are
// given, and names that servers return are not trusted.
std::string completions(const CLI::App& app, const std::string& line);

}  // namespace mayfly::http
