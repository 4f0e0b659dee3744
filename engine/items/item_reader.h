// Reads items by their keys: one item, or several as of one instant. cursor.h reads ranges of a table.
//
//   if (const auto stored = reader.get(table, key)) use(stored->item());
//
// A read does not see an item that has expired (departed.h). With a Sight, it can see an older state
// (sight.h). Thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/values/sight.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

class Failpoints;
class LiveTable;
class RecentWrites;
class Storage;

class ItemReader {
 public:
  // Requires: all arguments outlive this object.
  ItemReader(const Storage& storage, RecentWrites& recent_writes, const Failpoints& failpoints)
      : storage_(storage), recent_writes_(recent_writes), failpoints_(failpoints) {}

  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key) const;
  [[nodiscard]] std::optional<StoredItem> get(const LiveTable& table, std::string_view key,
                                              const Sight& sight) const;
  // Returns the items as they were at one instant: the result includes each commit either completely or not
  // at all. After this call, no read of their tables sees an older state (recent_writes.h).
  struct ItemName {
    const LiveTable* table;
    std::string_view key;
  };
  [[nodiscard]] std::vector<std::optional<StoredItem>> get_together(std::span<const ItemName> names) const;

  // For cursors.
  [[nodiscard]] const Storage& storage() const { return storage_; }
  [[nodiscard]] RecentWrites& recent_writes() const { return recent_writes_; }
  [[nodiscard]] const Failpoints& failpoints() const { return failpoints_; }

 private:
  const Storage& storage_;
  RecentWrites& recent_writes_;
  const Failpoints& failpoints_;
};

}  // namespace mayfly::engine
