// The commands for a data directory that no server has open: `mayfly verify --data DIR` and `mayfly repair
// --data DIR`.
#pragma once

#include <cstdint>
#include <string>

#include "engine/directory_check.h"

namespace mayfly::http {

inline constexpr std::uint64_t findings_max = 100;

struct DirectoryCommand {
  enum class What : std::uint8_t { verify, repair };
  What what = What::verify;
  std::string directory;
  engine::RepairOptions repair;
  bool json = false;
};

// Prints a line for each thing that is wrong or was repaired, of each at most findings_max, and a summary;
// with --json one object. Returns the exit code: 0, the data is intact; 1, it is damaged, or stays damaged;
// 2, with a sentence on stderr, it cannot be read.
int run_directory_command(const DirectoryCommand& command);

}  // namespace mayfly::http
