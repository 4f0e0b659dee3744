// The members of one snapshot, as they are kept in memory: the table and stream descriptions, counters,
// points and documents that a directory stores under the kinds 'H', 'J', 'K', 'L' and 'E' (snapshots.h).
//
// Members are stored in blocks. A snapshot and the previous one share each block that has not changed, so a
// snapshot costs a pointer per block and a copy of each changed block. If nothing has changed, it shares the
// whole object. Storage counts the memory of each object once (Storage::Holding).
//
//   SnapshotMembers::Builder builder;
//   builder.add('H', name, description);
//   const std::shared_ptr<const SnapshotMembers> members = builder.build(storage, &previous);
//
// Immutable once built, and therefore thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/storage/storage.h"

namespace mayfly::engine {

class SnapshotMembers {
 public:
  class Builder;

  // Calls visit(name, value) for each member of the kind. In a directory, the name is the part of the
  // member's key that follows the kind and the snapshot's id.
  using Visit = std::function<void(std::string_view name, std::string_view value)>;
  void each(char kind, const Visit& visit) const;

 private:
  struct Block;
  // Sorted by kind and group.
  using Blocks = std::vector<std::pair<std::string, std::shared_ptr<const Block>>>;

  SnapshotMembers(const Storage& storage, Blocks blocks);
  [[nodiscard]] std::shared_ptr<const Block> find(std::string_view group) const;  // nullptr: not found

  const Blocks blocks_;
  const Storage::Holding held_;
};

class SnapshotMembers::Builder {
 public:
  // A block can be shared only if its members are added in the same order as in the previous snapshot.
  // Requires: no member is added twice.
  void add(char kind, std::string_view name, std::string_view value);
  // `before`: the members of the account's previous snapshot, or nullptr.
  [[nodiscard]] std::shared_ptr<const SnapshotMembers> build(
      const Storage& storage, const std::shared_ptr<const SnapshotMembers>& before) const;

 private:
  std::map<std::string, Batch, std::less<>> groups_;
};

}  // namespace mayfly::engine
