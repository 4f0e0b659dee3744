// A table's items and the old versions of each (history.h), side by side, in the order of the keys.
//
//   PastWalk walk(storage, snapshot, table);
//   while (walk.next())
//     for (; walk.has_version(); walk.next_version()) … walk.number(), walk.version() …   // the earliest
//     first
//
// One thread's. Ends before its snapshot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/points.h"
#include "engine/storage.h"

namespace mayfly::engine {

class PastWalk {
 public:
  PastWalk(const Storage& storage, const Storage::Snapshot& snapshot, TableId table);

  // To the next key that there is an item or a version of.
  bool next();
  [[nodiscard]] std::string_view key() const { return key_; }
  // The item as it is at the snapshot; nothing: there is none.
  [[nodiscard]] std::optional<std::string_view> item() const {
    return has_item_ ? std::optional(items_.value()) : std::nullopt;
  }

  // --- the key's versions, the earliest first: item_version.h's bytes
  [[nodiscard]] bool has_version() const { return has_version_; }
  [[nodiscard]] VersionNumber number() const;
  [[nodiscard]] std::string_view version() const { return versions_.value(); }
  void next_version();
  // What the key was after the commit of this number. Nothing: it was not there.
  std::optional<std::string_view> at(VersionNumber number);

 private:
  void leave_versions();

  const TableId table_;
  Storage::Iterator items_, versions_;
  bool started_ = false, has_item_ = false, has_version_ = false;
  std::string key_;
};

}  // namespace mayfly::engine
