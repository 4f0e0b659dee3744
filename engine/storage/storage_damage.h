// Finds damaged files of a data directory and sets them aside. Damage is found by checksums: RocksDB writes
// one for each block of a table file and for each record of a log.
//
// A damaged file cannot be repaired, because its original contents are unknown. It can only be set aside.
// Setting it aside loses its contents and brings back older data that these contents had replaced or deleted,
// so Mayfly sets a file aside only at the user's request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/expected.h"

namespace mayfly::engine {

// Returns one sentence for each damaged log and table file. `tables` lists the table files that are in use.
// If these files are unknown because the directory cannot be opened, `tables` is nullopt, and all table files
// are checked.
Expected<std::vector<std::string>, std::string> damaged_files(
    const std::string& directory, const std::optional<std::vector<std::string>>& tables);

// Moves damaged files to `directory`/lost and makes the directory openable with the remaining files. A
// damaged log is cut off before the damage, and all later logs are moved away. Returns sentences that say
// what was done. If the function is interrupted, it can be called again.
// Requires: no process has the directory open.
Expected<std::vector<std::string>, std::string> set_aside_damaged_files(const std::string& directory);

}  // namespace mayfly::engine
