// When the reaper has to look next at an account's tables. Of each table with TTL it holds an instant before
// which nothing of the table is due, and the instant when what is due then is to be deleted.
//
// One entry per table, not one per item: what is due then is read from the expiry index, in order, from that
// instant on. So the instant is the index's low watermark too (a sweep starts past the tombstones of what
// expired before), a million far-off items cost 24 bytes and no wake-up, and a restart loads nothing but the
// first. Rejected: a bounded read-ahead of single entries. It needs its own eviction and reload, and saves a
// seek per sweep (some 5 us) of a deletion that costs 15.
//
// A timer may be early (its item was renewed or deleted): who looks then finds nothing and says when to come
// back. It is never late. Who writes an expiry entry pushes it after its commit, and who looks at the index
// announces that before reading it: a push meanwhile is remembered, and settling cannot put the timer behind
// it.
//
//   if (const auto look = timers.look_firing(now)) {       // the timer stays where it is
//     ... read the index from look->timer.due on, delete what is due ...
//     timers.settle(*look, first_entry_that_is_left);  // if that failed nothing is settled: looked at again
//   }
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::engine {

class TimerQueue {
 public:
  struct Timer {
    TableId table;
    Instant due;    // nothing in the table's index is due before
    Instant fires;  // when to look: expiry_mode.h
  };

  // Somebody reads the table's index from `timer.due` on.
  struct Look {
    Timer timer;
    std::uint64_t number;  // each look has its own
  };

  // Wakes when something fires earlier than all before.
  explicit TimerQueue(std::function<void()> wake_reaper) : wake_reaper_(std::move(wake_reaper)) {}

  // Something of the table is due then. If that is later than the table's timer, it is kept for whoever is
  // looking at the table.
  void push(const Timer& timer);
  // What is due of the table is not known, or is known by rules that have changed: the next sweep finds out.
  void look_now(TableId table) { push({table, 0, 0}); }
  void forget(TableId table);

  [[nodiscard]] std::optional<Timer> earliest() const;  // of those that ever fire
  [[nodiscard]] std::optional<Timer> of(TableId table) const;
  [[nodiscard]] std::vector<TableId> firing(Instant now) const;
  [[nodiscard]] std::size_t size() const;

  // A look at the table, or at the one whose timer is the earliest, or only if that fires by now. A later
  // look at the same table takes the place of an earlier one. Nothing: there is no such timer.
  std::optional<Look> look(TableId table);
  std::optional<Look> look_earliest();
  std::optional<Look> look_firing(Instant now);
  // False: somebody has looked since, or the table was forgotten. What this look has read may be out of date.
  [[nodiscard]] bool is_current(const Look& look) const;
  // And nothing was pushed since: what it has read of the index is all that there is.
  [[nodiscard]] bool is_whole(const Look& look) const;
  // Sets the timer to the first entry that the look left (nothing: none), or to an earlier one that was
  // pushed since the look began. If the look is not current, nothing happens. It rings nobody: whoever looks
  // has the account's turn (account.h), and the end of that rings.
  void settle(const Look& look, std::optional<Timer> next);

 private:
  struct Entry {
    Timer timer;
    std::uint64_t look = 0;       // the latest
    std::optional<Timer> pushed;  // the earliest since it began
  };

  Look begin_look(Entry& entry) REQUIRES(mutex_);
  bool set(Entry& entry, const Timer& timer) REQUIRES(mutex_);  // true: it fires earlier than all others

  const std::function<void()> wake_reaper_;
  mutable Mutex mutex_;
  std::set<std::pair<Instant, TableId>> order_ GUARDED_BY(mutex_);  // by `fires`; without those that never do
  std::unordered_map<TableId, Entry> timers_ GUARDED_BY(mutex_);
  std::uint64_t last_look_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
