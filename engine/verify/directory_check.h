// Verifies and repairs a data directory, for `mayfly verify` and `mayfly repair`.
//
//   auto verified = verify_directory("/var/lib/mayfly", {.wrong = [](auto kind, auto line) { … }});
//   if (!verified) … verified.error() …          // the directory could not be checked
//   verified->wrong == 0                         // nothing is wrong
//
// Verifying changes no byte. Repairing writes the data that can be derived from the items and drops entries
// that point to nothing. It does so in small steps, so it can be interrupted and started again. Both
// operations refuse a directory that is open elsewhere or has an unknown format. Both operations check
// everything, and their memory use does not grow with the data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/values/checked_counts.h"

namespace mayfly::engine {

// Receives each finding as soon as it is made. A line may contain any bytes; `kind` is the category under
// which such lines are counted.
struct CheckListener {
  using Line = std::function<void(std::string_view kind, std::string_view line)>;
  Line wrong;             // for findings that remain
  Line mended = nullptr;  // for findings that were repaired
  // Called when `keys` of about `estimate` keys have been checked.
  std::function<void(std::uint64_t keys, std::uint64_t estimate)> progress = nullptr;
};

struct DirectoryChecked {
  std::optional<Checked> checked;  // what the last pass checked; nullopt: a file is damaged
  std::uint64_t wrong = 0;         // number of findings that remain
  std::uint64_t mended = 0;        // number of repaired findings
};

// The error is a human-readable sentence that says why the directory could not be checked.
Expected<DirectoryChecked, std::string> verify_directory(const std::string& path,
                                                         const CheckListener& listener);

struct RepairOptions {
  // Entries that cannot be repaired are moved out of the directory, to this file. The file gets a line
  // for each key: the key and its value in hexadecimal digits. If the name is empty, such entries stay
  // in the directory.
  std::string move_out_file;
  // Whether to give up files that RocksDB cannot read, with everything in them (storage_damage.h).
  bool give_up_damaged_files = false;
};
Expected<DirectoryChecked, std::string> repair_directory(const std::string& path,
                                                         const RepairOptions& options,
                                                         const CheckListener& listener);

}  // namespace mayfly::engine
