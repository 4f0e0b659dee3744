// Keeps recent writes in memory for tables that some reads see in an older state. Each write is kept together
// with the previous state of its item.
//
//   recent.follow("000000000000", {{.table = "carts", .lag = {.writes = 3}}});
//
//   const auto horizon = recent.horizon(live, sight);
//   ...                                                         // the reader reads from storage
//   const Unseen unseen = recent.unseen(live, sight, horizon);  // the writes that it must not see
//   if (const auto* before = unseen.before(item_key)) ...       // the reader sees these bytes instead
//
// Each copy of a table (Sight::copy) has a horizon, which is a commit: the copy's readers see all writes up
// to this commit. A read moves the horizon forward as far as its lag allows, and never back. A read without a
// lag moves it to the latest commit, and so does forget(). Therefore no client's reads go backwards,
// regardless of what other clients read. A visible state always lies between two commits, so no read sees
// half of a transaction. Writes from before a table was followed are visible.
//
// A reader must take the horizon before it reads from storage. Otherwise, the stored data might be older than
// the horizon: items that were written in between would be shown as of the horizon, and the others as they
// were stored. After it has read from storage, the reader must ask for the unseen writes. By then, every
// write that it may have found in storage must have been noted, so unseen() waits for commits in progress. If
// writes after the horizon have been dropped in the meantime, this and all later reads see the stored data.
//
// A lag in milliseconds is measured by the account's clock, which also sets the times of commits. On a frozen
// clock, writes become visible only when the clock is moved, so every test run gives the same results.
//
// The writes are kept in memory, and both the number of writes and their total size are limited. Writes that
// are older than every lag are dropped. If a limit is exceeded, the oldest writes are dropped. Dropped writes
// become visible.
//
// Rejected: reading from a RocksDB snapshot for each commit. Such snapshots keep every old version of all
// tables, and each index would need its own snapshot, because it lags independently of its table.
// Rejected: old versions on disk, because nothing here has to survive a restart.
//
// Thread-safe. While no table is followed, a commit costs nothing extra and a read costs one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_feed.h"
#include "engine/values/sight.h"

namespace mayfly::engine {

using Commit = std::uint64_t;  // ChangeFeed::commit

struct RecentWrite {
  Commit commit;
  std::uint64_t number;  // the commit's number, counting only commits that changed the table
  Instant at;
  std::string key;     // the item's key, encoded by key_codec
  std::string before;  // the previous item, encoded by item_codec; empty if it did not exist
};

// The writes that a read does not see: for each item, the first write after the read's horizon.
class Unseen {
 public:
  [[nodiscard]] bool empty() const { return first_.empty(); }
  // Returns the item's bytes as the read sees them, an empty string if the item does not exist for the read,
  // and nullptr if the read sees the stored item.
  [[nodiscard]] const std::string* before(std::string_view item_key) const {
    const auto found = first_.find(item_key);
    return found == first_.end() ? nullptr : &found->second->before;
  }
  template <class Visit>
  void each(Visit visit) const {  // visit(item key, bytes before), in key order
    for (const auto& [key, write] : first_) visit(key, write->before);
  }

 private:
  friend class RecentWrites;
  std::map<std::string_view, std::shared_ptr<const RecentWrite>> first_;  // the writes own the keys
};

class RecentWrites {
 public:
  static constexpr std::size_t writes_max = 10'000;                        // per table
  static constexpr std::size_t bytes_max = std::size_t{64} * 1024 * 1024;  // for all tables together
  // The additional writes, beyond those that a lag needs, that are kept for reads in progress.
  static constexpr std::uint64_t slack_writes = 64;
  static constexpr std::int64_t slack_ms = 1000;
  // The maximum number of copies per table. A read of a further copy makes all earlier writes to the table
  // visible to all reads.
  static constexpr std::size_t copies_max = 64;

  // How far reads of a table can lag.
  struct Reach {
    std::string table;  // a table of the account, in any region; empty: all tables
    Lag lag;
  };

  // Requires: `feed` outlives this object.
  explicit RecentWrites(ChangeFeed& feed) : feed_(feed) {}

  // Sets which tables of the account are followed from now on, replacing the earlier setting. If `reaches` is
  // empty, no table is followed. All earlier writes become visible.
  void follow(const std::string& account, std::vector<Reach> reaches);
  // Makes all earlier writes visible.
  void forget(TableId table);
  void forget(std::string_view account);

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  // Moves the copy's horizon for this read and returns it: the read will see all writes up to this commit.
  // Requires: the reader has not read from storage yet.
  static constexpr Commit sees_all = ~Commit{0};
  [[nodiscard]] Commit horizon(const LiveTable& live, const Sight& sight);
  // Returns the writes that the read must not see.
  // Requires: the reader took `horizon` first, and then its snapshot of storage or the item.
  [[nodiscard]] Unseen unseen(const LiveTable& live, const Sight& sight, Commit horizon);
  // Returns the unseen write to one item; nullptr if the read sees the stored item.
  [[nodiscard]] std::shared_ptr<const RecentWrite> unseen(const LiveTable& live, const Sight& sight,
                                                          Commit horizon, std::string_view item_key);

  [[nodiscard]] std::size_t bytes() const;  // the memory that the kept writes use

 private:
  struct Log {
    std::string account;
    Commit latest = 0;         // the latest commit that changed the table
    Commit forgotten = 0;      // writes of commits up to this one may have been dropped
    std::uint64_t number = 0;  // the number of `latest`
    std::deque<std::shared_ptr<const RecentWrite>> writes;
    std::map<std::string, Commit, std::less<>> horizons;  // for each copy
  };
  using Logs = std::map<TableId, Log>;

  [[nodiscard]] bool follows(std::string_view account) const;
  void note(const Change& change);
  [[nodiscard]] static bool reaches(const Reach& reach, const Table& table);
  void trim(Log& log, const std::vector<Reach>& reaches, const Table& table, Instant now) REQUIRES(mutex_);
  void drop_oldest(Log& log) REQUIRES(mutex_);
  Logs::iterator erase(Logs::iterator log) REQUIRES(mutex_);
  void erase(std::string_view account) REQUIRES(mutex_);
  static Commit lagging(const Log& log, const Lag& lag, Instant now);
  static Commit move(Log& log, std::string_view copy, Commit seen);
  // Calls visit(log) if some writes may have to be hidden from the read.
  template <class Visit>
  void look(const LiveTable& live, const Sight& sight, Commit horizon, Visit visit);

  ChangeFeed& feed_;
  std::atomic<bool> any_{false};
  Mutex setting_;  // serializes follow(); taken before the commit section
  ChangeFeed::Subscription subscription_ GUARDED_BY(setting_);
  bool subscribed_ GUARDED_BY(setting_) = false;
  mutable Mutex mutex_;                                                                 // the innermost lock
  std::map<std::string, std::vector<Reach>, std::less<>> followed_ GUARDED_BY(mutex_);  // by account
  Logs logs_ GUARDED_BY(mutex_);
  Commit heard_ GUARDED_BY(mutex_) = 0;     // the latest commit
  Commit answered_ GUARDED_BY(mutex_) = 0;  // the latest horizon returned for a table without a log
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
