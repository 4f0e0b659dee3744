#include "compat/tables/changes.h"

#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::compat {

void TableChanges::begin(const engine::Scope& scope, TableChange change) {
  if (delay_.count() <= 0) return;
  const HostTime now = engine::host_time();
  const engine::Lock lock(mutex_);
  // Those that nobody asked for again go here, so that no more are kept than began within one delay.
  for (auto& [each, tables] : pending_)
    std::erase_if(tables, [&](const auto& table) { return table.second.end <= now; });
  std::string name = change.shown->name;
  pending_[scope].insert_or_assign(std::move(name), Pending{std::move(change), now + delay_});
}

void TableChanges::settle_all(std::string_view account) {
  const engine::Lock lock(mutex_);
  std::erase_if(pending_, [&](const auto& tables) { return tables.first.account == account; });
}

std::optional<TableChange> TableChanges::find(const engine::Scope& scope, std::string_view table_name) const {
  if (delay_.count() <= 0) return std::nullopt;
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return std::nullopt;
  const auto found = tables->second.find(table_name);
  if (found == tables->second.end() || found->second.end <= engine::host_time()) return std::nullopt;
  return found->second.change;
}

std::optional<TableStatus> TableChanges::status(const engine::Scope& scope,
                                                std::string_view table_name) const {
  const auto change = find(scope, table_name);
  if (!change) return std::nullopt;
  return change->status;
}

std::vector<std::string> TableChanges::deleting(const engine::Scope& scope,
                                                std::string_view start_after) const {
  std::vector<std::string> names;
  if (delay_.count() <= 0) return names;
  const HostTime now = engine::host_time();
  const engine::Lock lock(mutex_);
  const auto tables = pending_.find(scope);
  if (tables == pending_.end()) return names;
  for (auto table = tables->second.upper_bound(start_after); table != tables->second.end(); ++table) {
    if (table->second.change.status == TableStatus::deleting && table->second.end > now)
      names.push_back(table->first);
  }
  return names;
}

}  // namespace mayfly::compat
