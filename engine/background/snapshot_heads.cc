#include "engine/background/snapshot_heads.h"

#include <algorithm>
#include <utility>

namespace mayfly::engine {

SnapshotHeads::OfAccount SnapshotHeads::of(std::string_view account) const {
  const Lock lock(mutex_);
  const auto heads = by_account_.find(account);
  return heads == by_account_.end() ? OfAccount() : heads->second;
}

void SnapshotHeads::set(const std::string& account, OfAccount heads) {
  const Lock lock(mutex_);
  heads.empty() ? void(by_account_.erase(account)) : void(by_account_[account] = std::move(heads));
}

std::vector<std::string> SnapshotHeads::accounts() const {
  const Lock lock(mutex_);
  std::vector<std::string> accounts;
  for (const auto& [account, heads] : by_account_) accounts.push_back(account);
  return accounts;
}

bool SnapshotHeads::have(std::string_view account, TableId table) const {
  const Lock lock(mutex_);
  const auto heads = by_account_.find(account);
  return heads != by_account_.end() && has(heads->second, table);
}

std::optional<SnapshotHead> SnapshotHeads::find(std::string_view account, SnapshotId id) const {
  const Lock lock(mutex_);
  const auto heads = by_account_.find(account);
  if (heads == by_account_.end() || !heads->second.contains(id)) return std::nullopt;
  return heads->second.at(id);
}

// Starts the search with the newest snapshot, because the newest snapshot is the most likely one to contain a
// current table.
bool SnapshotHeads::has(const OfAccount& heads, TableId table) {
  const std::vector<TableId>* seen = nullptr;
  return std::any_of(heads.rbegin(), heads.rend(), [&](const auto& head) {
    const std::vector<TableId>& tables = *head.second.tables;
    return std::exchange(seen, &tables) != &tables && std::binary_search(tables.begin(), tables.end(), table);
  });
}

void SnapshotHeads::add(OfAccount& heads, SnapshotId id, SnapshotHead head, std::vector<TableId> tables) {
  std::sort(tables.begin(), tables.end());
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  const bool same = !heads.empty() && *heads.rbegin()->second.tables == tables;
  head.tables = same ? heads.rbegin()->second.tables
                     : std::make_shared<const std::vector<TableId>>(tables.begin(), tables.end());
  heads[id] = std::move(head);
}

}  // namespace mayfly::engine
