// A data directory looked over, and put right: what `mayfly verify` and `mayfly repair` do.
//
//   auto verified = verify_directory("/var/lib/mayfly", {.wrong = [](auto kind, auto line) { … }});
//   if (!verified) … verified.error() …          // it could not be looked at
//   verified->wrong == 0                         // all is as it should be
//
// Verifying changes no byte. Repairing writes what can be derived from the items and drops what points to
// nothing, a piece at a time, so that it can be interrupted and begun again. Neither goes on while somebody
// has the directory open, or with one of a format that is not known; each looks at all of it, and needs no
// more memory for more data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/checked_counts.h"
#include "engine/expected.h"

namespace mayfly::engine {

// Who is told of what is found, while it is. A line may have any bytes in it; `kind` is what such lines are
// counted as.
struct CheckListener {
  using Line = std::function<void(std::string_view kind, std::string_view line)>;
  Line wrong;             // and stays so
  Line mended = nullptr;  // when repairing
  // So many keys of about so many in all.
  std::function<void(std::uint64_t keys, std::uint64_t estimate)> progress = nullptr;
};

struct DirectoryChecked {
  std::optional<Checked> checked;  // the last time that all was looked at; nothing: a file is damaged
  std::uint64_t wrong = 0;         // things
  std::uint64_t mended = 0;        // things
};

// The error is a sentence for people: it could not be looked at.
Expected<DirectoryChecked, std::string> verify_directory(const std::string& path,
                                                         const CheckListener& listener);

struct RepairOptions {
  // Where what cannot be mended is moved, from the directory, a line for each key: it and its value in
  // hexadecimal digits. Empty: it stays.
  std::string move_out_file;
  // Files that RocksDB cannot read are given up, with what was in them (storage_damage.h).
  bool give_up_damaged_files = false;
};
Expected<DirectoryChecked, std::string> repair_directory(const std::string& path,
                                                         const RepairOptions& options,
                                                         const CheckListener& listener);

}  // namespace mayfly::engine
