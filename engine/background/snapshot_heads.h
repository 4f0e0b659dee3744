// The snapshots that each account has, and the tables that each snapshot contains. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/watermark.h"
#include "engine/schema/table.h"
#include "engine/storage/before_images.h"

namespace mayfly::engine {

class SnapshotMembers;

using SnapshotId = std::uint32_t;  // never reused

struct SnapshotHead {
  ImageLog log = 0;
  Sequence sequence = 0;
  // The sorted ids of the account's tables and of the tables that its points belong to. Two successive
  // snapshots with the same ids share one vector.
  std::shared_ptr<const std::vector<TableId>> tables;
  std::shared_ptr<const SnapshotMembers> members;  // nullptr if the members are in storage
};

class SnapshotHeads {
 public:
  using OfAccount = std::map<SnapshotId, SnapshotHead>;  // oldest first

  [[nodiscard]] OfAccount of(std::string_view account) const;
  void set(const std::string& account, OfAccount heads);
  [[nodiscard]] std::vector<std::string> accounts() const;  // those that have snapshots
  // Whether a snapshot of the account contains the table, or a point of the table.
  [[nodiscard]] bool have(std::string_view account, TableId table) const;
  [[nodiscard]] std::optional<SnapshotHead> find(std::string_view account, SnapshotId id) const;

  static bool has(const OfAccount& heads, TableId table);
  // Adds the newest snapshot, which contains these tables.
  static void add(OfAccount& heads, SnapshotId id, SnapshotHead head, std::vector<TableId> tables);

 private:
  mutable Mutex mutex_;  // held for a few instructions
  std::map<std::string, OfAccount, std::less<>> by_account_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
