// Tells the reaper when to look at an account's tables. For each table with TTL, the queue holds an instant
// before which no item of the table is due, and the instant at which items that are due then must be deleted.
//
// The queue has one entry per table, not per item: the reaper reads the due items from the expiry index, in
// order, starting at that instant. The instant therefore also serves as the index's low watermark (a sweep
// starts past the tombstones of earlier expirations), a million far-off items cost 24 bytes and no wake-up,
// and a restart loads only the first entry. Rejected: a bounded read-ahead of single entries. It needs its
// own eviction and reload, and saves only a seek per sweep (some 5 us), while each deletion takes 15.
//
// A timer may be early, because its item was renewed or deleted: the reaper then finds nothing and says when
// to look again. A timer is never late. A writer of an expiry entry pushes the timer after its commit, and a
// reader of the index calls look() before it reads. A push in between is remembered, so settle() cannot move
// the timer past it.
//
//   if (const auto look = timers.look_firing(now)) {     // the timer stays where it is
//     ... read the index from look->timer.due on, delete what is due ...
//     timers.settle(*look, first_entry_that_is_left);    // only on success; else the look is repeated
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
    Instant due;    // no entry in the table's index is due before
    Instant fires;  // when to look (expiry_mode.h)
  };

  // A caller is reading the table's index from `timer.due` on.
  struct Look {
    Timer timer;
    std::uint64_t number;  // unique per look
  };

  // `wake_reaper` is called when a timer fires earlier than all others.
  explicit TimerQueue(std::function<void()> wake_reaper) : wake_reaper_(std::move(wake_reaper)) {}

  // Tells the queue that an entry of the table is due at `timer.due`. If that is later than the table's
  // timer, the entry is remembered only for a look in progress.
  void push(const Timer& timer);
  // For a table whose due entries are unknown or were computed by rules that have changed: the next sweep
  // reads the index from the beginning.
  void look_now(TableId table) { push({table, 0, 0}); }
  void forget(TableId table);

  [[nodiscard]] std::optional<Timer> earliest() const;  // of those that ever fire
  [[nodiscard]] std::optional<Timer> of(TableId table) const;
  [[nodiscard]] std::vector<TableId> firing(Instant now) const;
  [[nodiscard]] std::size_t size() const;

  // Begins a look at the given table, at the table with the earliest timer, or at that table only if it fires
  // by `now`. A later look at the same table replaces an earlier one. Returns nullopt if there is no such
  // timer.
  std::optional<Look> look(TableId table);
  std::optional<Look> look_earliest();
  std::optional<Look> look_firing(Instant now);
  // Returns false if another look has begun since or the table was forgotten. The entries that this look has
  // read may then be out of date.
  [[nodiscard]] bool is_current(const Look& look) const;
  // Whether the look is current and no entry was pushed since it began, so it has read all entries that
  // exist.
  [[nodiscard]] bool is_whole(const Look& look) const;
  // Sets the timer to the first entry that the look left, or to an earlier one that was pushed since the look
  // began. nullopt removes the timer. Does nothing if the look is not current. Does not wake the reaper: the
  // caller has the account's turn (account.h), and the end of the turn wakes the reaper.
  void settle(const Look& look, std::optional<Timer> next);

 private:
  struct Entry {
    Timer timer;
    std::uint64_t look = 0;       // number of the latest look
    std::optional<Timer> pushed;  // the earliest since that look began
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
