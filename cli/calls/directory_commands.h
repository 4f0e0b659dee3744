// The commands for a data directory that no server has open: `mayfly verify --data DIR` and `mayfly repair
// --data DIR`.
#pragma once

#include <cstdint>
#include <string>

#include "engine/verify/directory_check.h"

namespace mayfly::cli {

inline constexpr std::uint64_t findings_max = 100;

struct DirectoryCommand {
  enum class What : std::uint8_t { verify, repair };
  What what = What::verify;
  std::string directory;
  engine::RepairOptions repair;
  bool json = false;
};

// Prints a line for each problem and each repair, at most findings_max of each, and a summary. With --json,
// prints one object. Returns the exit code:
// - 0: the data is intact;
// - 1: the data is damaged, or remains damaged after the repair;
// - 2, with a sentence on stderr: the data cannot be read.
int run_directory_command(const DirectoryCommand& command);

}  // namespace mayfly::cli
