#include "compat/tables/changes.h"

#include <utility>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::compat {

void TableChanges::forget_what_is_over(HostTime now) {
  // Removes finished changes that no caller looked up again, so that at most one delay's worth of changes is
  // kept.
  for (auto& [each, tables] : pending_)
    std::erase_if(tables, [&](const auto& table) { return table.second.over(now); });
}

void TableChanges::begin(const engine::Scope& scope, TableChange change) {
  if (delay_.count() <= 0) return;
  const HostTime now = host_clock_();
  const engine::Lock lock(mutex_);
  forget_what_is_over(now);
  std::string name = change.shown->name;
  Pending& pending = pending_[scope][std::move(name)];
  if (pending.held) --held_;
  const std::map<std::string, Backfill> before = std::move(pending.backfills);
  pending = Pending{std::move(change), now + delay_};
  const IndexStatuses& statuses = pending.change.index_statuses;
  for (const auto& [index, status] : statuses)
    if (status == index_is_creating) pending.backfills[index] = {pending.end, pending.end + delay_};
  if (pending.change.status != TableStatus::updating) return;
  for (const auto& [index, backfill] : before)
    if (!statuses.contains(index)) pending.backfills.emplace(index, backfill);
}

bool TableChanges::try_hold(const engine::Scope& scope, TableChange change) {
  const HostTime now = host_clock_();
  const engine::Lock lock(mutex_);
  forget_what_is_over(now);
  const auto tables = pending_.find(scope);
  if (tables != pending_.end() && tables->second.contains(change.shown->name)) return false;
  hold_pending(scope, std::move(change), now);
  return true;
}

void TableChanges::hold(const engine::Scope& scope, TableChange change) {
  const HostTime now = host_clock_();
  const engine::Lock lock(mutex_);
  forget_what_is_over(now);
  hold_pending(scope, std::move(change), now);
}

void TableChanges::hold_pending(const engine::Scope& scope, TableChange change, HostTime now) {
  std::string name = change.shown->name;
  Pending& pending = pending_[scope][std::move(name)];
  if (!pending.held) ++held_;
  pending = Pending{std::move(change), now + delay_, true};
}

void TableChanges::settle(const engine::Scope& scope, std::string_view table_name) {
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return;
  const auto found = tables->second.find(table_name);
  if (found == tables->second.end() || !found->second.held) return;
  found->second.held = false;
  if (found->second.over(host_clock_())) tables->second.erase(found);
  --held_;
}

void TableChanges::drop(const engine::Scope& scope, std::string_view table_name) {
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return;
  const auto found = tables->second.find(table_name);
  if (found == tables->second.end()) return;
  const bool held = found->second.held;
  tables->second.erase(found);
  if (held) --held_;
}

void TableChanges::settle_all(std::string_view account) {
  const engine::Lock lock(mutex_);
  for (auto& [scope, tables] : pending_) {
    if (scope.account == account) std::erase_if(tables, [](const auto& table) { return !table.second.held; });
  }
}

std::vector<TableChanges::Restoring> TableChanges::restoring(std::string_view account) const {
  std::vector<Restoring> found;
  if (empty()) return found;
  const HostTime now = host_clock_();
  const engine::Lock lock(mutex_);
  for (auto of_region = pending_.lower_bound({std::string(account), {}});
       of_region != pending_.end() && of_region->first.account == account; ++of_region) {
    const engine::Scope& scope = of_region->first;
    for (const auto& [name, pending] : of_region->second) {
      if (pending.change.restore && !pending.over(now))
        found.push_back({scope, name, *pending.change.restore});
    }
  }
  return found;
}

std::optional<TableChange> TableChanges::find(const engine::Scope& scope, std::string_view table_name) const {
  if (empty()) return std::nullopt;
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return std::nullopt;
  const auto found = tables->second.find(table_name);
  const HostTime now = host_clock_();
  if (found == tables->second.end() || found->second.over(now)) return std::nullopt;
  const Pending& pending = found->second;
  TableChange change = pending.change;
  if (!pending.held && pending.end <= now) {
    change.status = TableStatus::active;
    change.index_statuses.clear();
    change.changing.clear();
    change.warming.clear();
  }
  for (const auto& [index, backfill] : pending.backfills) {
    if (backfill.until <= now) continue;
    change.index_statuses[index] = index_is_creating;
    if (backfill.from <= now) change.backfilling.insert(index);
  }
  return change;
}

std::optional<TableStatus> TableChanges::status(const engine::Scope& scope,
                                                std::string_view table_name) const {
  const auto change = find(scope, table_name);
  if (!change || change->status == TableStatus::active) return std::nullopt;
  return change->status;
}

std::vector<std::string> TableChanges::deleting(const engine::Scope& scope,
                                                std::string_view start_after) const {
  std::vector<std::string> names;
  if (empty()) return names;
  const HostTime now = host_clock_();
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return names;
  for (auto table = tables->second.upper_bound(start_after); table != tables->second.end(); ++table) {
    if (table->second.change.status == TableStatus::deleting && !table->second.over(now))
      names.push_back(table->first);
  }
  return names;
}

}  // namespace mayfly::compat
