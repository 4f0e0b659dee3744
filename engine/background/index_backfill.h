// Fills a new index, or the expiry index, with the entries of a table's existing items.
//
// From the moment the description says that an index is being created, writes maintain the index. A walk over
// the items adds the missing entries, each under its item's lock and through Transaction, so the walk and the
// writes may reach an item in any order. The entries of the first items are added before update_table
// returns, and a background task (scheduler.h) adds the rest. After a restart, Index::state and
// TimeToLive::backfilling tell which tables must be walked again.
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

// A resumable walk over a table's items. It fills each index of the table, including the expiry index, that
// is unfinished when the walk starts.
class BackfillWalk {
 public:
  BackfillWalk(Catalog& catalog, const WritePath& path, std::shared_ptr<LiveTable> table,
               const Table& description);

  // Adds the entries of at most `items` more items. Returns true when the walk is done: either the table's
  // description now says that the indexes are filled, or the indexes are no longer wanted. After a failure
  // (attempt.h), step() can be called again.
  bool step(std::size_t items);

  static bool needed(const Table& description);
  // Whether `after` needs a backfill that `before` did not need. If both need the backfill, its walk has
  // already been started.
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
  std::string next_key_;                     // the encoded item key at which the walk continues
};

class IndexBackfill {
 public:
  // Background walks end when the scheduler ends. Requires: the other arguments outlive this object.
  IndexBackfill(Catalog& catalog, const WritePath& path, std::shared_ptr<Scheduler> scheduler);
  IndexBackfill(const IndexBackfill&) = delete;
  IndexBackfill& operator=(const IndexBackfill&) = delete;

  // Adds the entries of at most `at_once` items before it returns, and the rest in the background. If the
  // first part fails (attempt.h), it is retried in the background.
  void start(std::shared_ptr<LiveTable> table, const Table& description, std::size_t at_once);

 private:
  class Walks;

  Catalog& catalog_;
  const WritePath& path_;
  const std::shared_ptr<Scheduler> scheduler_;
  const std::shared_ptr<Walks> walks_;
};

}  // namespace mayfly::engine
