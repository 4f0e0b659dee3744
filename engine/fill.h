// Fills a table with what another was: a restore's work, through transactions (transaction.h) as all writing.
//
//   HistoryCursor then(database, point);
//   const auto filled = fill(database, then, table, stop, [&](const Filled& so_far) { … });
//
// It goes in batches of many items each. A crash in between, or a failure, leaves the items so far: the
// caller finds the table as he described it (CREATING) and drops it, or fills it anew, which writes the same
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "engine/expected.h"
#include "engine/history_cursor.h"

namespace mayfly::engine {

class Database;
class LiveTable;

inline constexpr std::size_t fill_batch_items_max = 256;  // written together

struct Filled {
  std::int64_t items = 0;
  std::int64_t bytes = 0;  // by DynamoDB's count
};

// Why a table was not filled to the end.
enum class FillRefusal : std::uint8_t {
  gone,     // the cursor had nothing to read
  dropped,  // the table was, meanwhile
  stopped,  // by the token
  no_room,  // memory is at its bound (Database::has_room)
};

// `progress` (may be empty) is told after each batch, which has at most `batch_items_max` items; `stop` is
// looked at before each. A StorageFault passes through.
// Requires: `into` has the key schema of what the cursor reads; if it has indexes, they are active or being
// created: each item gets its entries. What the cursor shows is written as it is; should `into` have TTL on,
// what is due goes as it always does.
Expected<Filled, FillRefusal> fill(Database& database, HistoryCursor& from,
                                   const std::shared_ptr<LiveTable>& into, const std::stop_token& stop,
                                   const std::function<void(const Filled& so_far)>& progress = nullptr,
                                   std::size_t batch_items_max = fill_batch_items_max);

}  // namespace mayfly::engine
