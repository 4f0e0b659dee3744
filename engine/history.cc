#include "engine/history.h"

#include <algorithm>

#include "engine/failpoints.h"
#include "engine/history_trimmer.h"
#include "engine/parts.h"
#include "engine/snapshots.h"

namespace mayfly::engine {

Instant earliest_of(const Recovery& recovery, Instant now) {
  return std::max({recovery.since, recovery.given_up, now - recovery.days * day_ms});
}

History::History(Database& database) : database_(database) {}

// --- recovery

bool History::keep(const std::shared_ptr<LiveTable>& table, std::int64_t days) {
  Database::Parts& parts = database_.parts();
  const bool kept = parts.catalog.update(*table, [&](Table& description) {
    // The clock is read while no write is in progress: every later write is kept.
    const Instant now = table->account().clock().now();
    if (!description.recovery) description.recovery = Recovery{.since = now, .days = days};
    Recovery& recovery = *description.recovery;
    // Lengthening the period does not bring back what a shorter period has given up.
    recovery.given_up = std::max(recovery.given_up, now - std::min(days, recovery.days) * day_ms);
    recovery.days = days;
  }) != nullptr;
  if (kept) parts.history_trimmer->less_needed(table->id());
  return kept;
}

void History::forget(const std::shared_ptr<LiveTable>& table) {
  Database::Parts& parts = database_.parts();
  if (!table->description()->recovery) return;
  parts.catalog.update(*table, [](Table& description) { description.recovery.reset(); });
  parts.history_trimmer->less_needed(table->id());
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
  Database::Parts& parts = database_.parts();
  if (parts.history_trimmer->points_exceed_bound() || !database_.has_room())
    return Unexpected{PointRefusal::no_room};
  std::optional<Point> point;
  parts.catalog.hold(*table, [&] {
    Batch batch;
    Point taken = parts.catalog.point_of(*table);
    if (at) {
      if (!taken.table.recovery ||
          *at < std::max(taken.table.recovery->since, taken.table.recovery->given_up))
        return;
      taken.at = *at;
      taken.by_instant = true;
    }
    parts.points.stage(batch, taken);
    parts.storage().write(batch);
    parts.points.add(taken);
    parts.catalog.settle_past(*table);
    point = std::move(taken);
    interleave("point taken");
  });
  if (!point) return Unexpected{PointRefusal::dropped};
  return *std::move(point);
}

std::optional<Point> History::hold_point(PointId id) {
  Database::Parts& parts = database_.parts();
  std::optional<Point> point;
  parts.catalog.hold_changes([&] {
    point = parts.points.find(id);
    if (!point) return;
    Batch batch;
    parts.points.stage(batch, *point);
    parts.storage().write(batch);
    parts.points.add(*point);
    interleave("point held");
  });
  return point;
}

bool History::drop_table(const std::shared_ptr<LiveTable>& table, std::optional<Point>* last) {
  // Its replicas remain, but no longer list it.
  const auto leave = [&](std::vector<Table>& tables) {
    return std::erase_if(tables, [&](const Table& each) { return each.id == table->id(); }) == 1;
  };
  const auto leaving = last != nullptr ? Catalog::Leaving::point : Catalog::Leaving::nothing;
  auto dropped = database_.update_together(table, leave, no_limit, leaving);
  if (!dropped) return false;
  if (last != nullptr) *last = std::move(dropped->points.front());
  return true;
}

std::optional<Point> History::find_point(PointId id) const { return database_.parts().points.find(id); }

std::vector<Point> History::points(std::string_view account) const {
  return database_.parts().points.of(account);
}

bool History::drop_point(PointId id) {
  Database::Parts& parts = database_.parts();
  const std::optional<Point> point = parts.points.find(id);
  if (!point) return false;
  bool dropped = false;
  const auto drop = [&](LiveTable* live) {
    if (!parts.points.find(id)) return;  // another thread dropped it
    const TableId table = point->table.id;
    Batch batch;
    batch.erase(point_key(id));
    const bool last = parts.points.numbers(table).size() == 1;
    if (last && live == nullptr && !parts.snapshots->have(point->table.account, table))
      parts.catalog.erase_data(batch, table);
    parts.storage().write(batch);
    parts.points.remove(id);
    if (live != nullptr) parts.catalog.settle_past(*live);
    dropped = true;
    interleave("point dropped");
  };
  // Try again if the table is dropped, or brought back by a restore, between the lookup and the hold.
  for (bool held = false; !held;) {
    const std::shared_ptr<LiveTable> live = parts.catalog.find(point->table.id);
    if (live) {
      held = parts.catalog.hold(*live, [&] { drop(live.get()); });
      continue;
    }
    parts.catalog.hold_changes([&] {
      held = parts.catalog.find(point->table.id) == nullptr;
      if (held) drop(nullptr);
    });
  }
  if (dropped) parts.history_trimmer->less_needed(point->table.id);
  return dropped;
}

// --- size

History::Footprint History::footprint() const {
  const Database::Parts& parts = database_.parts();
  const VersionCount left = parts.points.left();
  Footprint total{left.versions, left.bytes};
  for (const auto& table : parts.catalog.tables()) {
    const VersionCount count = table->version_count();
    total.versions += count.versions;
    total.bytes += count.bytes;
  }
  return total;
}

std::uint64_t History::bytes_max() const {
  const std::uint64_t asked = database_.parts().options.history_bytes_max;
  return database_.parts().storage().durable() ? asked : std::min(asked, database_.memory_bytes_max() / 4);
}

}  // namespace mayfly::engine
