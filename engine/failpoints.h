// Points at which an expiry stops, between "this item is due" and its deletion, so that a test can write in
// between.
//
//   failpoints.arm(table, key, keys);     // the item falls due: it stays, and is listed as waiting
//   ... a user's write, which succeeds: no lock is held
//   failpoints.release(*table, key);      // the reaper looks again: was the item renewed, it stays
//
// An expiry that waits holds nobody up but its own account's advance, which returns when all that fell due
// is gone. A point is there for one release. Thread-safe; while no point is armed a sweep pays for one
// relaxed load.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::engine {

class Failpoints {
 public:
  struct Point {
    std::shared_ptr<LiveTable> table;
    std::string key;  // key_codec's
    Item keys;        // the same as attributes
    bool waiting = false;
    Instant due = 0;  // of what waits
  };

  static constexpr std::size_t points_max = 1'000;  // of all accounts: who asks looks at all of them

  // False: it is a new one, and there are as many as there may be.
  bool arm(std::shared_ptr<LiveTable> table, std::string key, Item keys);
  bool release(const LiveTable& table, std::string_view key);  // false: there is no such point
  void release_all(std::string_view account);
  void forget(const LiveTable& table);  // it is dropped: nothing of it waits any more
  [[nodiscard]] std::vector<Point> of(std::string_view account) const;

  // Asked by the reaper before it takes a lock. True: the item is not to be deleted now; whoever releases the
  // point tells the table's timer.
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  bool holds(const LiveTable& table, std::string_view key, Instant due);
  // Whether a point keeps the item, which then is an ordinary one, due or not.
  [[nodiscard]] bool keeps(const LiveTable& table, std::string_view key) const;
  // Waits until nothing of the account waits at a point. True: something did.
  // Requires: the caller has the account's turn and no item's lock.
  bool wait_for_release(std::string_view account, const std::stop_token& stop);

 private:
  using Points = std::list<Point>;
  Points::iterator let_go(Points::iterator point) REQUIRES(mutex_);

  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  std::condition_variable_any released_;
  Points points_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
