// Tells the reaper when to look at an account's tables. For each table with TTL, the queue holds a timer
// with two instants: no item of the table is due before `due`, and items that are due at `due` must be
// deleted at `fires`.
//
// The queue has one entry per table, not per item: the reaper reads the due items from the expiry index, in
// order, starting at `due`. So `due` also serves as the low watermark of the index: a sweep starts after the
// tombstones of earlier expirations. A million items that expire far in the future cost 24 bytes and no
// wake-up, and a restart loads only the first entry. Rejected: a bounded read-ahead of single entries. It
// would need its own eviction and reload, and would save only a seek per sweep (about 5 us), while each
// deletion takes 15 us.
//
// A timer may be early, because the item that it was set for was renewed or deleted: the reaper then finds
// nothing and sets the timer for the next look. A timer is never late. A writer of an expiry entry pushes the
// timer after its commit, and a reader of the index calls look() before it reads. If a writer pushes between
// look() and settle(), the queue remembers that entry, and settle() does not move the timer past it.
//
//   if (const auto look = timers.look_firing(now)) {     // the timer does not change yet
//     ... read the index from look->timer.due on, delete what is due ...
//     timers.settle(*look, first_entry_that_is_left);    // only on success; otherwise, the look is repeated
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

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class TimerQueue {
 public:
  struct Timer {
    TableId table;
    Instant due;    // no entry in the table's index is due earlier
    Instant fires;  // when to look (expiry_mode.h)
  };

  // A look in progress: its caller is reading the table's index from `timer.due` on.
  struct Look {
    Timer timer;
    std::uint64_t number;  // each look has its own number
  };

  // `wake_reaper` is called when a timer that fires earlier than all other timers is set.
  explicit TimerQueue(std::function<void()> wake_reaper) : wake_reaper_(std::move(wake_reaper)) {}

  // Tells the queue that an entry of the table is due at `timer.due`. If that is later than the table's
  // timer, the queue remembers the entry only for a look in progress.
  void push(const Timer& timer);
  // Makes the next sweep of the table read the index from the beginning. Callers use it if the table's due
  // entries are unknown or were computed by rules that have changed.
  void look_now(TableId table) { push({table, 0, 0}); }
  void forget(TableId table);

  [[nodiscard]] std::optional<Timer> earliest() const;  // of the timers that ever fire
  [[nodiscard]] std::optional<Timer> of(TableId table) const;
  [[nodiscard]] std::vector<TableId> firing(Instant now) const;
  [[nodiscard]] std::size_t size() const;

  // look() begins a look at the given table. look_earliest() begins a look at the table with the earliest
  // timer. look_firing() does the same as look_earliest(), but only if that timer fires by `now`. A later
  // look at the same table replaces an earlier look. Returns nullopt if there is no such timer.
  std::optional<Look> look(TableId table);
  std::optional<Look> look_earliest();
  std::optional<Look> look_firing(Instant now);
  // Returns false if another look at the table has begun since this look began, or if the table was
  // forgotten. In that case, the entries that this look has read may be out of date.
  [[nodiscard]] bool is_current(const Look& look) const;
  // Whether the look is current and no entry was pushed since it began, so that the look has read all
  // entries that exist.
  [[nodiscard]] bool is_whole(const Look& look) const;
  // Sets the timer to `next`, the first entry that is left, or to an earlier entry that was pushed since
  // the look began. Removes the timer if there is no such entry. Does nothing if the look is not current.
  // Does not wake the reaper: the caller holds the account's turn (account.h), and the end of the turn
  // wakes the reaper.
  void settle(const Look& look, std::optional<Timer> next);

 private:
  struct Entry {
    Timer timer;
    std::uint64_t look = 0;       // number of the latest look
    std::optional<Timer> pushed;  // the earliest timer pushed since that look began
  };

  Look begin_look(Entry& entry) REQUIRES(mutex_);
  bool set(Entry& entry, const Timer& timer) REQUIRES(mutex_);  // whether it now fires first

  const std::function<void()> wake_reaper_;
  mutable Mutex mutex_;
  std::set<std::pair<Instant, TableId>> order_ GUARDED_BY(mutex_);  // the timers that ever fire, by `fires`
  std::unordered_map<TableId, Entry> timers_ GUARDED_BY(mutex_);
  std::uint64_t last_look_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
