// The command line: `mayfly serve --port 8000`, each option also as MAYFLY_… in the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/log.h"
#include "http/server.h"

namespace mayfly::http {

struct ServeOptions {
  ServerSettings server;
  std::string port_file;       // empty: none
  std::string data_directory;  // empty: in memory
  bool fsync = false;
  std::string region;
  std::int64_t table_delay_ms = 0;
  log::Level log_level = log::Level::info;
};

struct CommandLine {
  std::optional<ServeOptions> serve;  // nothing: all is said, exit with `exit_code`
  int exit_code = 0;
};

// Prints help, the version, and what is wrong.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace mayfly::http
