// The commands that make one call to the control API, such as `mayfly clock advance 48h` and `mayfly ttl
// explain carts 1`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/calls/server_calls.h"

namespace mayfly::cli {

struct ControlCommand {
  ServerPlace server;
  std::string method, path;
  std::string body;              // JSON, or empty
  std::string table;             // the table that the call is about, if any
  std::vector<std::string> key;  // as typed (item_text.h); becomes the body's member "key"
  bool json = false;             // print the answer unchanged
  // What to print without --json. `metrics`: the answer is not JSON.
  enum class Shows : std::uint8_t { answer, id, change, changes, jobs, metrics } shows = Shows::answer;
  std::string list, when_empty;  // as in view_answer()
  bool watch = false;            // for jobs: repeat until all have ended
};

// Makes the call and prints its answer. Returns the exit code: 0, or 1 with a sentence on stderr.
int run_command(const ControlCommand& command);

}  // namespace mayfly::cli
