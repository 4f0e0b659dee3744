// The commands that make one call of the control API: `mayfly clock advance 48h`, `mayfly ttl explain carts
// 1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/server_calls.h"

namespace mayfly::http {

struct ControlCommand {
  ServerPlace server;
  std::string method, path;
  std::string body;              // JSON, or nothing
  std::string table;             // that the call is about, if it is about one
  std::vector<std::string> key;  // as it was typed (item_text.h); becomes the body's member "key"
  bool json = false;             // print the answer as it is
  // For people: what of the answer is printed. `metrics`: it is not JSON.
  enum class Shows : std::uint8_t { answer, id, change, changes, jobs, metrics } shows = Shows::answer;
  std::string list, when_empty;  // as view_answer() takes them
  bool watch = false;            // of jobs: again and again, until all have ended
};

// Makes the call and prints its answer. Returns the exit code: 0, or 1 with a sentence on stderr.
int run_command(const ControlCommand& command);

// "90" and "90s", "15m", "48h", "2d", "1h30m" in seconds, as a number of JSON. Nothing: it is not a duration.
std::optional<std::string> seconds_of(const std::string& duration);

}  // namespace mayfly::http
