// When the reaper has to look next at an account's tables: for each with TTL, an instant before which nothing of
// it is due, and the instant when that is to be deleted by the table's expiry mode.
//
// One entry per table, not one per item: what is due then is read from the expiry index, in order, from that
// instant on. So the instant is the index's low watermark too (a sweep starts past the tombstones of what
// expired before), a million far-off items cost 24 bytes and no wake-up, and a restart loads nothing but the
// first. Rejected: a bounded read-ahead of single entries. It needs its own eviction and reload, and saves a
// seek per sweep (some 5 us) of a deletion that costs 15.
//
// An entry may be early (its item was renewed or deleted): the sweep then finds nothing and says when to come
// back. It is never late: who writes an expiry entry pushes it, after its commit.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/bell.h"
#include "engine/clock.h"
#include "engine/guarded_by.h"
#include "engine/table.h"

namespace mayfly::engine {

class TimerHeap {
 public:
  struct Timer {
    TableId table;
    Instant due;    // nothing in the table's index is due before
    Instant fires;  // when to look: expiry_mode.h
  };

  // Rings when something fires earlier than all before.
  explicit TimerHeap(Bell& bell) : bell_(bell) {}

  // Something of the table is due then. Later than what is known: nothing to do.
  void push(const Timer& timer);
  void forget(TableId table);

  [[nodiscard]] std::optional<Timer> earliest() const;  // of those that ever fire
  [[nodiscard]] std::optional<Timer> of(TableId table) const;
  // Takes the earliest away if it fires by now. Who sweeps pops first and pushes what it found afterwards, so that
  // a write meanwhile is not overlooked.
  std::optional<Timer> pop(Instant now);
  [[nodiscard]] std::size_t size() const;

 private:
  std::optional<Timer> take(TableId table);

  Bell& bell_;
  mutable std::mutex mutex_;
  std::set<std::pair<Instant, TableId>> order_ GUARDED_BY(mutex_);  // by `fires`; without those that never do
  std::unordered_map<TableId, Timer> timers_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
