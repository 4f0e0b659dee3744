// The points that there are: states of tables that somebody (a backup) wants to be able to read, each named
// by the number of the last commit that it has.
//
//   'P' point:u32be -> number:u64le at:i64le items:i64le bytes:i64le table     table: its description then
//
// A point copies nothing of what the table holds (history.h). Of tables that were dropped it knows how many
// versions they have left, too, since no catalog does.
//
// Changed under the catalog's changes (lock_table.h) alone; read by anybody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::engine {

using VersionNumber = std::uint64_t;  // a commit's: the sequence number of its last record, or of none
using PointId = std::uint32_t;        // never given again

struct Point {
  PointId id = 0;
  Table table;               // as it was described
  VersionNumber number = 0;  // the last commit that it has
  Instant at = 0;            // by the account's clock
  std::int64_t items = 0;    // as DescribeTable would have counted them, due ones among them
  std::int64_t bytes = 0;
};

}  // namespace mayfly::engine
