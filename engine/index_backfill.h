// Fills a new index, or the expiry index, of a table that has items.
//
// From the moment the description says that an index is being created, writes maintain it; a walk over the
// items adds what they lack, each under its lock and through Transaction, so that it does not matter who
// comes first. The first items are filled in before update_table returns, the rest on a thread that exists
// only while there is something to fill. Index::state and TimeToLive::backfilling tell a restart what to walk
// again.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/scheduler.h"
#include "engine/table.h"

namespace mayfly::engine {

class Database;

// One resumable walk over a table's items, for those indexes (or the expiry index) that are unfinished when
// it starts.
class BackfillWalk {
 public:
  BackfillWalk(Database& database, std::shared_ptr<LiveTable> table, const Table& description);

  // Fills at most `items` more; true: done, and the description says so, or nobody wants it any more. If it
  // fails (attempt.h) it can go on.
  bool step(std::size_t items);

  static bool needed(const Table& description);
  // Whether something began to be needed in between; what was under way before has its walk.
  static bool needed_since(const Table& before, const Table& after);

 private:
  [[nodiscard]] bool fills(const Index& index) const;
  [[nodiscard]] bool fills(const std::optional<TimeToLive>& ttl) const;
  [[nodiscard]] bool wanted() const;
  void finish();

  Database& database_;
  std::shared_ptr<LiveTable> table_;
  std::vector<IndexId> indexes_;
  std::optional<std::uint32_t> ttl_number_;  // nothing: not ours
  std::string next_key_;                     // encoded item key to go on from
};

class IndexBackfill {
 public:
  // Walks end with the scheduler.
  IndexBackfill(Database& database, std::shared_ptr<Scheduler> scheduler);
  IndexBackfill(const IndexBackfill&) = delete;
  IndexBackfill& operator=(const IndexBackfill&) = delete;

  // Fills in at most `at_once` items now, the rest in the background; what fails (attempt.h) as well.
  void start(std::shared_ptr<LiveTable> table, const Table& description, std::size_t at_once);

 private:
  class Walks;

  Database& database_;
  const std::shared_ptr<Scheduler> scheduler_;
  const std::shared_ptr<Walks> walks_;
};

}  // namespace mayfly::engine
