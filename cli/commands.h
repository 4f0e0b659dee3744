// The commands against a running server: `mayfly clock advance 48h`, `mayfly ttl explain carts
// '{"id":{"S":"1"}}'`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mayfly::http {

// One call of the control API.
struct ControlCommand {
  std::string url = "http://127.0.0.1:8000";
  std::string ca_file;          // whose certificates https:// may show; empty: the system's
  std::string account, region;  // empty: the server's defaults
  std::string method, path;
  std::string body;  // JSON, or nothing
  // Of the answer: all of it, an id alone, changes as they come (of `table`, if that is not empty), jobs as
  // jobs_view.h has them.
  enum class Shows : std::uint8_t { answer, id, changes, jobs } shows = Shows::answer;
  std::string table;
  bool watch = false;  // of jobs: again and again, until all are over
};

// Makes the call, signed if the environment has a key (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), and prints
// its answer, indented. Returns the exit code: 0, or 1 with a sentence on stderr.
int run_command(const ControlCommand& command);

// "90" and "90s", "15m", "48h", "2d", "1h30m" in seconds, as JSON has numbers. Nothing: it is no duration.
std::optional<std::string> seconds_of(const std::string& duration);

}  // namespace mayfly::http
