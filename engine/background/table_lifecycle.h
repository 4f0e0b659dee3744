// Creates, changes and drops tables, and starts the background work that a change requires.
//
//   auto table = tables.create(description);             // nullptr if the name is taken
//   tables.update(table, [](Table& edited) { edited.ttl = TimeToLive{.attribute = "expires"}; });
//   tables.drop(table);
//
// The catalog (catalog.h) makes the changes visible. The layers above the engine use it only to look up
// tables and streams. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/expected.h"
#include "engine/schema/expiry_mode.h"
#include "engine/schema/shards.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"
#include "engine/tables/points.h"

namespace mayfly::engine {

class Failpoints;
class HistoryTrimmer;
class IndexBackfill;
class Reaper;
class RecentWrites;
class Replication;
class StreamTrimmer;

class TableLifecycle {
 public:
  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Catalog& catalog;
    RecentWrites& recent_writes;
    Failpoints& failpoints;
    IndexBackfill& backfill;
    Reaper& reaper;
    StreamTrimmer& stream_trimmer;
    HistoryTrimmer& history_trimmer;
    Replication& replication;
  };
  struct Options {
    ExpiryMode expiry;        // the expiry mode of new tables
    std::size_t at_once_max;  // items that update() backfills before it returns
  };

  TableLifecycle(const Uses& uses, const Options& options) : uses_(uses), options_(options) {}

  // Fills in ids, the creation time and, if it is missing, the UUID. Returns nullptr if the name is taken, or
  // if the account already has `tables_max` tables in the region.
  std::shared_ptr<LiveTable> create(Table table, std::size_t tables_max = no_limit);
  // Replaces a table's description while no write is in progress: `change` edits a copy. Gives ids to new
  // indexes and streams, drops the entries of removed indexes, and starts backfills (for new global indexes,
  // and when TTL is switched on). The first items are backfilled before this returns; in a large table, the
  // rest follow in the background. Returns the new description, or nullptr if the table was dropped.
  std::shared_ptr<const Table> update(const std::shared_ptr<LiveTable>& table,
                                      const std::function<void(Table&)>& change);
  // Like update(), for a table and its replicas: does what Catalog::update_together describes, and starts the
  // backfills, trimming and replication that the change requires.
  Expected<Catalog::Together, Catalog::Refusal> update_together(
      const std::shared_ptr<LiveTable>& table, const Catalog::ChangeTogether& change,
      std::size_t tables_max = no_limit, Catalog::Leaving leaving = Catalog::Leaving::nothing,
      const Catalog::Describe& describe = {});
  // Drops the table. If `last` is not null, also takes a point of the table (history.h), regardless of
  // limits. The point is in the same batch as the drop, so no write happens between the two. Returns false,
  // without a point, if another caller has already dropped the table.
  bool drop(const std::shared_ptr<LiveTable>& table, std::optional<Point>* last = nullptr);
  // Calls `look` while no thread writes to the table, and no thread changes the table or a replica of it.
  // Returns false without calling `look` if the table was dropped.
  bool hold(const std::shared_ptr<LiveTable>& table, const std::function<void()>& look);
  // Closes an open shard of the table's stream, or all of its open shards if `shard` is nullopt, between two
  // writes. A closed shard continues in one child with the same hashes, or in two children with half of the
  // hashes each. Returns the children.
  Expected<std::vector<Shard>, ReshardRefusal> reshard(const std::shared_ptr<LiveTable>& table,
                                                       std::optional<ShardNumber> shard, Resharding how);

 private:
  void changed(const std::shared_ptr<LiveTable>& table, const Table& before, const Table& after);

  const Uses uses_;
  const Options options_;
};

}  // namespace mayfly::engine
