// A failpoint makes an expiry wait after the reaper has found an item due and before it deletes the item, so
// that a test can write to the item in between.
//
//   failpoints.arm(table, key, keys);     // when the item is due, it is kept and listed as waiting
//   ... a user's write, which succeeds: no lock is held
//   failpoints.release(*table, key);      // the reaper checks again: it keeps an item that was renewed
//
// A waiting expiry blocks only calls that advance the clock of its account, because such a call returns when
// all items that became due are deleted. Releasing a point removes it. Thread-safe. While no point is armed,
// a sweep costs one additional relaxed load.
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

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/tables/catalog.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

class Failpoints {
 public:
  struct Point {
    std::shared_ptr<LiveTable> table;
    std::string key;  // encoded by key_codec
    Item keys;        // the same key, as attributes
    bool waiting = false;
    Instant due = 0;  // when the waiting expiry was due
  };

  // The limit for all accounts together. It is small because each lookup scans all points.
  static constexpr std::size_t points_max = 1'000;

  // Returns false if the point is new and `points_max` points exist already.
  bool arm(std::shared_ptr<LiveTable> table, std::string key, Item keys);
  bool release(const LiveTable& table, std::string_view key);  // false if there is no such point
  void release_all(std::string_view account);
  void forget(const LiveTable& table);  // removes the points of a dropped table
  [[nodiscard]] std::vector<Point> of(std::string_view account) const;

  // The reaper calls any() and holds() before it takes a lock. If holds() returns true, the item must not be
  // deleted now. When the point is released, the expiry is added to the account's timers again.
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  bool holds(const LiveTable& table, std::string_view key, Instant due);
  // Whether a point keeps the item. Readers and writers treat such an item as ordinary, even if it is due.
  [[nodiscard]] bool keeps(const LiveTable& table, std::string_view key) const;
  // Waits until no expiry of the account waits at a point. Returns false if none was waiting, or if `stop`
  // was requested first. Requires: the caller has the account's turn and holds no item's lock.
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
