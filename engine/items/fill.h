// Fills a table with the items of a past state of another table, for restores. Like all writes, the items are
// written by transactions (transaction.h).
//
//   HistoryCursor then(reader, point);
//   const auto filled = fill(path, then, table, stop, [&](const Filled& so_far) { … });
//
// Each transaction writes a batch of items. After a crash or a failure, the items written so far remain. The
// caller finds the table in the state CREATING and either drops it or fills it again, which writes the same
// items.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "engine/base/expected.h"
#include "engine/items/history_cursor.h"

namespace mayfly::engine {

class LiveTable;
struct WritePath;

inline constexpr std::size_t fill_batch_items_max = 256;  // items per transaction

struct Filled {
  std::int64_t items = 0;
  std::int64_t bytes = 0;  // the items' size as DynamoDB counts it
};

// Why a table was not filled completely.
enum class FillRefusal : std::uint8_t {
  gone,     // the past state cannot be read: HistoryCursor::gone()
  dropped,  // the table was dropped in the meantime
  stopped,  // the stop token was triggered
  no_room,  // the memory limit is reached (Storage::has_room)
};

// Calls `progress` (may be empty) after each batch of at most `batch_items_max` items, and checks `stop`
// before each batch. Does not catch StorageFault. Requires: `into` has the key schema of the cursor's table;
// if it has indexes, they are active or being created, so that each item gets its entries. Items are written
// as the cursor returns them; if TTL is on for `into`, items that are due expire as usual.
Expected<Filled, FillRefusal> fill(const WritePath& path, HistoryCursor& from,
                                   const std::shared_ptr<LiveTable>& into, const std::stop_token& stop,
                                   const std::function<void(const Filled& so_far)>& progress = nullptr,
                                   std::size_t batch_items_max = fill_batch_items_max);

}  // namespace mayfly::engine
