// A cursor reads a table or an index in order, as of one snapshot of storage. It skips items that have
// expired (departed.h). With a Sight, it can read an older state instead (sight.h).
//
//   Cursor cursor(reader, table, {.index = 0, .lower = prefix, .upper = prefix_end(prefix)});
//   while (cursor.next()) use(cursor.item());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/schema/table.h"
#include "engine/values/sight.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

class ItemReader;
class LiveTable;

// A range of keys in one table or index, as bytes encoded by key_codec: [lower, upper). An empty `upper`
// means the end of the table or index. index_entries.h describes the keys of index entries; index_entry_key
// returns an item's position in an index.
struct KeyRange {
  IndexId index = 0;
  std::string lower;
  std::string upper;
  bool forward = true;
};

class Cursor {
 public:
  Cursor(const ItemReader& reader, const LiveTable& table, KeyRange range,
         const std::optional<Sight>& sight = std::nullopt);
  ~Cursor();
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;

  // Moves to the next item. Returns false at the end, and also after skipping departed_max expired items in a
  // row. This keeps reads fast while the reaper is behind. In that case paused() is true, key() and
  // item() return the last skipped item, and next() continues after it.
  static constexpr std::size_t departed_max = 10'000;
  bool next();
  [[nodiscard]] bool paused() const;
  [[nodiscard]] const StoredItem& item() const;  // the whole item, even if the cursor reads an index
  [[nodiscard]] std::string_view key() const;    // encoded, without table and index; valid until next()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::engine
