#include "engine/background/table_lifecycle.h"

#include <utility>

#include "engine/background/history_trimmer.h"
#include "engine/background/index_backfill.h"
#include "engine/background/reaper.h"
#include "engine/background/replication.h"
#include "engine/background/stream_trimmer.h"
#include "engine/base/attempt.h"
#include "engine/items/failpoints.h"
#include "engine/items/recent_writes.h"
#include "engine/time/account.h"

namespace mayfly::engine {
namespace {

bool expires_alike(const Table& one, const Table& other) {
  if (one.expiry != other.expiry || one.ttl.has_value() != other.ttl.has_value()) return false;
  return !one.ttl || one.ttl->number == other.ttl->number;
}

// Forgets recent writes if the TTL rule changes. Otherwise, a read that lags would apply the new rule, and
// items that expired under the old rule would become visible to that read again.
// Requires: no thread writes, and no read uses the new rule yet.
void change_expiry(RecentWrites& recent, const Table& before, const Table& after) {
  if (!expires_alike(before, after)) recent.forget(after.id);
}

}  // namespace

std::shared_ptr<LiveTable> TableLifecycle::create(Table table, std::size_t tables_max) {
  table.expiry = options_.expiry;
  std::shared_ptr<LiveTable> made = uses_.catalog.create(std::move(table), tables_max);
  if (made && made->description()->stream) uses_.stream_trimmer.stream_made(made->account());
  return made;
}

std::shared_ptr<const Table> TableLifecycle::update(const std::shared_ptr<LiveTable>& table,
                                                    const std::function<void(Table&)>& change) {
  const std::shared_ptr<const Table> before = table->description();
  const std::shared_ptr<const Table> after = uses_.catalog.update(*table, [&](Table& edited) {
    const Table was = edited;
    change(edited);
    change_expiry(uses_.recent_writes, was, edited);
  });
  if (!after) return nullptr;
  changed(table, *before, *after);
  return table->description();
}

// Starts the backfills and the trimming that a change requires, and deletes the items that the change made
// due.
void TableLifecycle::changed(const std::shared_ptr<LiveTable>& table, const Table& before,
                             const Table& after) {
  if (after.stream && (!before.stream || before.stream->id != after.stream->id))
    uses_.stream_trimmer.stream_made(table->account());
  if (BackfillWalk::needed_since(before, after)) uses_.backfill.start(table, after, options_.at_once_max);
  // Items that the change made due are deleted before this function returns, up to a limit, so that the
  // change is complete even on a frozen clock.
  const bool makes_due =
      after.ttl && (!before.ttl || before.ttl->number != after.ttl->number || before.expiry != after.expiry);
  if (makes_due) {
    if (const auto turn = table->account().try_turn()) {
      attempt([&] { uses_.reaper.sweep_some(*turn, table->id(), options_.at_once_max); },
              [](std::string_view) {
                // The reaper retries the deletion.
              });
    }
  }
}

Expected<Catalog::Together, Catalog::Refusal> TableLifecycle::update_together(
    const std::shared_ptr<LiveTable>& table, const Catalog::ChangeTogether& change, std::size_t tables_max,
    Catalog::Leaving leaving, const Catalog::Describe& describe) {
  const auto change_all = [&](std::vector<Table>& tables) {
    const std::vector<Table> before = tables;
    if (!change(tables)) return false;
    for (const Table& was : before)
      for (const Table& is : tables)
        if (is.id == was.id) change_expiry(uses_.recent_writes, was, is);
    return true;
  };
  TRY(Catalog::Together together,
      uses_.catalog.update_together(*table, change_all, tables_max, leaving, describe));
  for (const auto& dropped : together.dropped) {
    dropped->account().timers().forget(dropped->id());
    uses_.failpoints.forget(*dropped);
    uses_.recent_writes.forget(dropped->id());
    if (dropped->version_count().versions > 0) uses_.history_trimmer.less_needed(dropped->id());
  }
  const bool is_alone = together.tables.size() + together.dropped.size() == 1;
  if (!is_alone) uses_.replication.members_changed(table->account());
  for (std::size_t i = 0; i < together.tables.size(); ++i) {
    const std::shared_ptr<const Table> after = together.tables[i]->description();
    if (together.before[i]) {
      changed(together.tables[i], *together.before[i], *after);
      continue;
    }
    if (after->stream) uses_.stream_trimmer.stream_made(together.tables[i]->account());
    uses_.replication.copy_some(together.tables[i], options_.at_once_max);
  }
  return together;
}

bool TableLifecycle::drop(const std::shared_ptr<LiveTable>& table, std::optional<Point>* last) {
  // The replicas of the table remain, but no longer list it.
  const auto leave = [&](std::vector<Table>& tables) {
    return std::erase_if(tables, [&](const Table& each) { return each.id == table->id(); }) == 1;
  };
  const auto leaving = last != nullptr ? Catalog::Leaving::point : Catalog::Leaving::nothing;
  auto dropped = update_together(table, leave, no_limit, leaving);
  if (!dropped) return false;
  if (last != nullptr) *last = std::move(dropped->points.front());
  return true;
}

bool TableLifecycle::hold(const std::shared_ptr<LiveTable>& table, const std::function<void()>& look) {
  return uses_.catalog.hold(*table, look);
}

Expected<std::vector<Shard>, ReshardRefusal> TableLifecycle::reshard(const std::shared_ptr<LiveTable>& table,
                                                                     std::optional<ShardNumber> shard,
                                                                     Resharding how) {
  return uses_.catalog.reshard(*table, shard, how);
}

}  // namespace mayfly::engine
