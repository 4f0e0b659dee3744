#include "engine/background/history.h"

#include <algorithm>

#include "engine/background/history_size.h"
#include "engine/background/history_trimmer.h"
#include "engine/background/snapshot_heads.h"
#include "engine/base/interleaving.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"

namespace mayfly::engine {

// --- recovery

bool History::keep(const std::shared_ptr<LiveTable>& table, std::int64_t days) {
  const bool kept = catalog_.update(*table, [&](Table& description) {
    // Read the clock while no write is in progress, so that the history includes every later write.
    const Instant now = table->account().clock().now();
    if (!description.recovery) description.recovery = Recovery{.since = now, .days = days};
    Recovery& recovery = *description.recovery;
    // Lengthening the period does not bring back instants that were given up under a shorter period.
    recovery.given_up = std::max(recovery.given_up, now - std::min(days, recovery.days) * day_ms);
    recovery.days = days;
  }) != nullptr;
  if (kept) trimmer_.less_needed(table->id());
  return kept;
}

void History::forget(const std::shared_ptr<LiveTable>& table) {
  if (!table->description()->recovery) return;
  catalog_.update(*table, [](Table& description) { description.recovery.reset(); });
  trimmer_.less_needed(table->id());
}

std::optional<History::Restorable> History::restorable(const LiveTable& table) const {
  const std::optional<Recovery> recovery = table.description()->recovery;
  if (!recovery || table.dropped()) return std::nullopt;
  const Instant now = table.account().clock().now();
  return Restorable{earliest_of(*recovery, now), now};
}

// --- points

Expected<Point, PointRefusal> History::take_point(const std::shared_ptr<LiveTable>& table) {
  return take(table, std::nullopt);
}

Expected<Point, PointRefusal> History::hold_instant(const std::shared_ptr<LiveTable>& table, Instant at) {
  return take(table, at);
}

Expected<Point, PointRefusal> History::take(const std::shared_ptr<LiveTable>& table,
                                            std::optional<Instant> at) {
  if (trimmer_.points_exceed_bound() || !storage_.has_room()) return Unexpected{PointRefusal::no_room};
  std::optional<Point> point;
  catalog_.hold(*table, [&] {
    Batch batch;
    Point taken = catalog_.point_of(*table);
    if (at) {
      if (!taken.table.recovery ||
          *at < std::max(taken.table.recovery->since, taken.table.recovery->given_up))
        return;
      taken.at = *at;
      taken.by_instant = true;
    }
    points_.stage(batch, taken);
    storage_.write(batch);
    points_.add(taken);
    catalog_.settle_past(*table);
    point = std::move(taken);
    interleave("point taken");
  });
  if (!point) return Unexpected{PointRefusal::dropped};
  return *std::move(point);
}

std::optional<Point> History::hold_point(PointId id) {
  std::optional<Point> point;
  catalog_.hold_changes([&] {
    point = points_.find(id);
    if (!point) return;
    Batch batch;
    points_.stage(batch, *point);
    storage_.write(batch);
    points_.add(*point);
    interleave("point held");
  });
  return point;
}

std::optional<Point> History::find_point(PointId id) const { return points_.find(id); }

std::vector<Point> History::points(std::string_view account) const { return points_.of(account); }

bool History::drop_point(PointId id) {
  const std::optional<Point> point = points_.find(id);
  if (!point) return false;
  bool dropped = false;
  const auto drop = [&](LiveTable* live) {
    if (!points_.find(id)) return;  // another thread has dropped the point
    const TableId table = point->table.id;
    Batch batch;
    batch.erase(point_key(id));
    const bool last = points_.numbers(table).size() == 1;
    if (last && live == nullptr && !snapshots_.have(point->table.account, table))
      catalog_.erase_data(batch, table);
    storage_.write(batch);
    points_.remove(id);
    if (live != nullptr) catalog_.settle_past(*live);
    dropped = true;
    interleave("point dropped");
  };
  // Try again if the table is dropped, or brought back by a restore, between the lookup and the hold.
  for (bool held = false; !held;) {
    const std::shared_ptr<LiveTable> live = catalog_.find(point->table.id);
    if (live) {
      held = catalog_.hold(*live, [&] { drop(live.get()); });
      continue;
    }
    catalog_.hold_changes([&] {
      held = catalog_.find(point->table.id) == nullptr;
      if (held) drop(nullptr);
    });
  }
  if (dropped) trimmer_.less_needed(point->table.id);
  return dropped;
}

}  // namespace mayfly::engine
