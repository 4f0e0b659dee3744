// Completes command lines in bash, zsh and fish. The scripts only run this program. It knows its own commands
// and options, and asks the running server for tables, snapshots, functions and jobs:
//
//   completions(app, "mayfly snapshot restore ")  ==  "1\n2\n"
#pragma once

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace mayfly::cli {

// The command that the scripts run: `mayfly __complete 'mayfly clock adv'`.
inline constexpr const char* completing_command = "__complete";

// The time limit for the server's answer, and the maximum number of names that are taken from it.
inline constexpr int completion_milliseconds_max = 300;
inline constexpr std::size_t completion_names_max = 500;

// The script for `source <(mayfly completion bash)`. Requires: `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

// Returns the words that can follow `line`, the command line up to the cursor, one per line. Empty if a file
// or a free value is expected. The words contain only letters, digits and "_.:-", because shells expand the
// words, and names from a server are not trusted.
std::string completions(const CLI::App& app, const std::string& line);

}  // namespace mayfly::cli
