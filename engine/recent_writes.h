// What was written lately to tables of which some reads see an older state: each write, with what its item
// was before.
//
//   recent.follow("000000000000", {{.table = "carts", .lag = {.writes = 3}}});
//
//   const auto horizon = recent.horizon(live, sight);
//   ...                                                        // the reader looks into storage, and then:
//   const Unseen unseen = recent.unseen(live, sight, horizon);  // what it shall not see of that
//   if (const auto* before = unseen.before(item_key)) ...       // it sees these bytes instead
//
// Each copy of a table (Sight::copy) has a horizon: the commit up to which its readers see all. A read moves
// it to where its lag allows, and never back; one without a lag moves it to the latest commit, and so does
// forgetting. So no client's reads go backwards, whoever else reads, and a state is always one between two
// commits: nobody sees half of a transaction. What was written before a table was followed is seen.
//
// The horizon comes before the look into storage, or what is stored might be older than it: items that were
// written since would be shown as of the horizon, and the others as they are stored. What is unseen is asked
// for afterwards, when all that the reader may have found has been told: so asking waits for whoever commits.
// If writes between the two were dropped meanwhile, the read sees what it found, and so does who comes next.
//
// Milliseconds are those of the account's clock, by which commits are stamped: on a frozen clock nothing
// becomes visible by itself, and moving the clock makes it so, the same each time.
//
// It is all in memory and bounded: writes that no lag reaches back to, or that are too many, are dropped, the
// oldest first, and are seen from then on. Rejected: reading at RocksDB's snapshots, one for each commit,
// which keep every old version of all tables, and of which an index's would need another; and old versions on
// disk, since nothing here has to survive.
//
// Thread-safe. While nothing is followed commits pay nothing and reads one relaxed load.
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

#include "engine/catalog.h"
#include "engine/change_feed.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::engine {

using Commit = std::uint64_t;  // ChangeFeed::commit

struct RecentWrite {
  Commit commit;
  std::uint64_t number;  // of the commit among those of the table
  Instant at;
  std::string key;     // the item's, key_codec's
  std::string before;  // item_codec's bytes; empty: there was no such item
};

// What a read does not see: of each item the first write beyond the read's horizon.
class Unseen {
 public:
  [[nodiscard]] bool empty() const { return first_.empty(); }
  // Bytes of the item as the read sees it; empty: it sees none. nullptr: it sees what is stored.
  [[nodiscard]] const std::string* before(std::string_view item_key) const {
    const auto found = first_.find(item_key);
    return found == first_.end() ? nullptr : &found->second->before;
  }
  template <class Visit>
  void each(Visit visit) const {  // visit(item key, bytes before), in the order of the keys
    for (const auto& [key, write] : first_) visit(key, write->before);
  }

 private:
  friend class RecentWrites;
  std::map<std::string_view, std::shared_ptr<const RecentWrite>> first_;  // keys are the writes' own
};

class RecentWrites {
 public:
  static constexpr std::size_t writes_max = 10'000;                        // of a table
  static constexpr std::size_t bytes_max = std::size_t{64} * 1024 * 1024;  // of all tables together
  // Kept beyond what a lag reaches back to, for reads that are under way.
  static constexpr std::uint64_t slack_writes = 64;
  static constexpr std::int64_t slack_ms = 1000;
  static constexpr std::size_t copies_max = 64;  // of a table; with more, all begin to see all again

  // How far back reads of a table may look.
  struct Reach {
    std::string table;  // of the account, in any region; empty: every one
    Lag lag;
  };

  // `feed` outlives it.
  explicit RecentWrites(ChangeFeed& feed) : feed_(feed) {}

  // Which tables of the account are followed from now on, instead of those before; none: an empty list. All
  // that was written until then is seen.
  void follow(const std::string& account, std::vector<Reach> reaches);
  // All that was written until now is seen.
  void forget(TableId table);
  void forget(std::string_view account);

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  // Up to which commit the read will see all; the copy's horizon is there from now on. Requires: the reader
  // has not looked into storage yet.
  static constexpr Commit sees_all = ~Commit{0};
  [[nodiscard]] Commit horizon(const LiveTable& live, const Sight& sight);
  // Requires: the reader has its snapshot, or the item, by now, and had the horizon before.
  [[nodiscard]] Unseen unseen(const LiveTable& live, const Sight& sight, Commit horizon);
  // The same of one item; nullptr: the read sees what is stored.
  [[nodiscard]] std::shared_ptr<const RecentWrite> unseen(const LiveTable& live, const Sight& sight,
                                                          Commit horizon, std::string_view item_key);

  [[nodiscard]] std::size_t bytes() const;  // that the writes hold

 private:
  struct Log {
    std::string account;
    Commit latest = 0;         // that changed the table
    Commit forgotten = 0;      // writes of commits up to this one may be gone
    std::uint64_t number = 0;  // of `latest`
    std::deque<std::shared_ptr<const RecentWrite>> writes;
    std::map<std::string, Commit, std::less<>> horizons;  // by copy
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
  // visit(log), if there is something to be unseen.
  template <class Visit>
  void look(const LiveTable& live, const Sight& sight, Commit horizon, Visit visit);

  ChangeFeed& feed_;
  std::atomic<bool> any_{false};
  Mutex setting_;  // one change of what is followed at a time; taken before the commit section
  ChangeFeed::Subscription subscription_ GUARDED_BY(setting_);
  bool subscribed_ GUARDED_BY(setting_) = false;
  mutable Mutex mutex_;                                                                 // innermost
  std::map<std::string, std::vector<Reach>, std::less<>> followed_ GUARDED_BY(mutex_);  // by account
  Logs logs_ GUARDED_BY(mutex_);
  Commit heard_ GUARDED_BY(mutex_) = 0;     // the latest
  Commit answered_ GUARDED_BY(mutex_) = 0;  // the latest that was a horizon of a table without a log
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
