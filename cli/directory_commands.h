// The commands for a data directory that no server has open: `mayfly verify --data DIR`, `mayfly repair
// --data DIR`.
#pragma once

#include <cstdint>
#include <string>

#include "engine/directory_check.h"

namespace mayfly::http {

struct DirectoryCommand {
  enum class What : std::uint8_t { verify, repair };
  What what = What::verify;
  std::string directory;
  engine::RepairOptions repair;
};

// Prints what is wrong, and what was done, a line each: of each sort some hundred, and then how many more
// there are. Returns the exit code: 0, all is as it should be; 1, something is wrong, or stays so; 2, with a
// sentence on stderr, it could not be looked at.
int run_directory_command(const DirectoryCommand& command);

}  // namespace mayfly::http
