// Files of a data directory that are not as RocksDB wrote them: each block of a table file has a checksum,
// and each record of a log.
//
// A damaged file is not mended, for nobody knows what stood there. It can be set aside. That loses what it
// held and brings back what that had replaced or deleted, so it is done only for who has asked for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/expected.h"

namespace mayfly::engine {

// Sentences, one for each file: logs and table files. `tables`: which of these are needed; nothing: nobody
// knows, because the directory cannot be opened.
Expected<std::vector<std::string>, std::string> damaged_files(
    const std::string& directory, const std::optional<std::vector<std::string>>& tables);

// Moves the damaged ones below `directory`/lost, and makes the directory one that can be opened, of the
// others. Of a damaged log stays what was written before the damage, and no later log. Returns what was done,
// in sentences. Who was interrupted can begin again. Requires: nobody has the directory open.
Expected<std::vector<std::string>, std::string> set_aside_damaged_files(const std::string& directory);

}  // namespace mayfly::engine
