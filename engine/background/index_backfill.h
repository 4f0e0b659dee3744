// Fills a new index, or the expiry index, with the entries of a table's existing items.
//
// From the moment the description says that an index is being created, writes maintain the index. A walk over
// the items adds the missing entries, each under its item's lock and through Transaction, so the walk and the
// writes may reach an item in any order. The first items are filled in before update_table returns, the rest
// by a background task (scheduler.h). After a restart, Index::state and TimeToLive::backfilling tell which
// tables to walk again.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/scheduler.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"

namespace mayfly::engine {

struct WritePath;

// One resumable walk over a table's items, for those indexes (or the expiry index) that are unfinished when
// it starts.
class BackfillWalk {
 public:
  BackfillWalk(Catalog& catalog, const WritePath& path, std::shared_ptr<LiveTable> table,
               const Table& description);

  // Fills in at most `items` more items. Returns true when done: the description now says that the indexes
  // are filled, or they are no longer wanted. After a failure (attempt.h), step() can be called again.
  bool step(std::size_t items);

  static bool needed(const Table& description);
  // Whether `after` needs a backfill that `before` did not. Backfills in progress already have a walk.
  static bool needed_since(const Table& before, const Table& after);

 private:
  [[nodiscard]] bool fills(const Index& index) const;
  [[nodiscard]] bool fills(const std::optional<TimeToLive>& ttl) const;
  [[nodiscard]] bool wanted() const;
  void finish();

  Catalog& catalog_;
  const WritePath& path_;
  std::shared_ptr<LiveTable> table_;
  std::vector<IndexId> indexes_;
  std::optional<std::uint32_t> ttl_number_;  // nullopt: this walk does not fill the expiry index
  std::string next_key_;                     // encoded item key to continue from
};

class IndexBackfill {
 public:
  // Walks end with the scheduler. Requires: the other arguments outlive this object.
  IndexBackfill(Catalog& catalog, const WritePath& path, std::shared_ptr<Scheduler> scheduler);
  IndexBackfill(const IndexBackfill&) = delete;
  IndexBackfill& operator=(const IndexBackfill&) = delete;

  // Fills in at most `at_once` items now and the rest in the background. If filling fails now (attempt.h), it
  // is retried in the background.
  void start(std::shared_ptr<LiveTable> table, const Table& description, std::size_t at_once);

 private:
  class Walks;

  Catalog& catalog_;
  const WritePath& path_;
  const std::shared_ptr<Scheduler> scheduler_;
  const std::shared_ptr<Walks> walks_;
};

}  // namespace mayfly::engine
