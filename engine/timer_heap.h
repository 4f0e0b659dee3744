// When the reaper has to look next: for each table with TTL, an instant before which nothing of it is due.
//
// One entry per table, not one per item: what is due then is read from the expiry index, in order, from that
// instant on. So the instant is the index's low watermark too (a sweep starts past the tombstones of what
// expired before), a million far-off items cost 16 bytes and no wake-up, and a restart loads nothing but the
// first. Rejected: a bounded read-ahead of single entries. It needs its own eviction and reload, and saves a
// seek per sweep (some 5 us) of a deletion that costs 15.
//
// An entry may be early (its item was renewed or deleted): the sweep then finds nothing and says when to come
// back. It is never late: who writes an expiry entry pushes it, after its commit.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/clock.h"
#include "engine/guarded_by.h"
#include "engine/table.h"

namespace mayfly::engine {

class TimerHeap {
 public:
  struct Timer {
    Instant due;
    TableId table;
  };

  // Something of the table is due then. Later than what is known: nothing to do.
  void push(TableId table, Instant due);
  void forget(TableId table);

  [[nodiscard]] std::optional<Timer> earliest() const;
  // Takes the earliest away if it is due. Who sweeps pops first and pushes what it found afterwards, so that a
  // write meanwhile is not overlooked.
  std::optional<Timer> pop_due(Instant now);
  [[nodiscard]] std::size_t size() const;

  // Sleeping until something changes: take a ticket, look, then wait with it.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket ticket() const;
  void wait(Ticket ticket, std::optional<std::chrono::nanoseconds> real_time_max);
  void wake();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Ticket changes_ GUARDED_BY(mutex_) = 0;
  std::set<std::pair<Instant, TableId>> order_ GUARDED_BY(mutex_);
  std::unordered_map<TableId, Instant> due_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
