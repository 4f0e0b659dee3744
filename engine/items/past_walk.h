// Walks a table's items together with the old versions of each item (history.h), in key order.
//
//   PastWalk walk(storage, snapshot, table);
//   while (walk.next())
//     for (; walk.has_version(); walk.next_version())     // earliest first
//       … walk.number(), walk.version() …
//
// Not thread-safe.
// Requires: the snapshot outlives the walk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/storage/storage.h"
#include "engine/tables/points.h"

namespace mayfly::engine {

class PastWalk {
 public:
  PastWalk(const Storage& storage, const Storage::Snapshot& snapshot, TableId table);

  // Moves to the next key that has an item or an old version. Returns false at the end.
  bool next();
  [[nodiscard]] std::string_view key() const { return key_; }
  // The item as of the snapshot; nullopt if the key has no item.
  [[nodiscard]] std::optional<std::string_view> item() const {
    return has_item_ ? std::optional(items_.value()) : std::nullopt;
  }

  // --- the key's versions, earliest first, encoded as in item_version.h
  [[nodiscard]] bool has_version() const { return has_version_; }
  [[nodiscard]] VersionNumber number() const;
  [[nodiscard]] std::string_view version() const { return versions_.value(); }
  void next_version();
  // The item as it was after the commit with this number; nullopt if it did not exist. Moves past the
  // versions up to that number, so successive calls for one key must pass increasing numbers.
  std::optional<std::string_view> at(VersionNumber number);

 private:
  void leave_versions();

  const TableId table_;
  Storage::Iterator items_, versions_;
  bool started_ = false, has_item_ = false, has_version_ = false;
  std::string key_;
};

}  // namespace mayfly::engine
