#include "engine/items/failpoints.h"

#include <algorithm>
#include <utility>

#include "engine/schema/expiry_mode.h"
#include "engine/time/account.h"

namespace mayfly::engine {

bool Failpoints::arm(std::shared_ptr<LiveTable> table, std::string key, Item keys) {
  const Lock lock(mutex_);
  const bool known = std::any_of(points_.begin(), points_.end(), [&](const Point& point) {
    return point.table == table && point.key == key;
  });
  if (known) return true;
  if (points_.size() >= points_max) return false;
  points_.push_back({std::move(table), std::move(key), std::move(keys)});
  any_ = true;
  return true;
}

Failpoints::Points::iterator Failpoints::let_go(Points::iterator point) {
  if (point->waiting) {
    const Instant fires = fires_at(*point->table->description(), point->due);
    point->table->account().timers().push({point->table->id(), point->due, fires});
  }
  const auto next = points_.erase(point);
  any_ = !points_.empty();
  released_.notify_all();
  return next;
}

bool Failpoints::release(const LiveTable& table, std::string_view key) {
  const Lock lock(mutex_);
  const auto point = std::find_if(points_.begin(), points_.end(), [&](const Point& each) {
    return each.table.get() == &table && each.key == key;
  });
  if (point == points_.end()) return false;
  let_go(point);
  return true;
}

void Failpoints::release_all(std::string_view account) {
  const Lock lock(mutex_);
  for (auto point = points_.begin(); point != points_.end();)
    point = point->table->account().id() == account ? let_go(point) : std::next(point);
}

std::vector<Failpoints::Point> Failpoints::of(std::string_view account) const {
  const Lock lock(mutex_);
  std::vector<Point> points;
  for (const Point& point : points_)
    if (point.table->account().id() == account) points.push_back(point);
  return points;
}

bool Failpoints::holds(const LiveTable& table, std::string_view key, Instant due) {
  const Lock lock(mutex_);
  for (Point& point : points_) {
    if (point.table.get() != &table || point.key != key) continue;
    // An item can have two entries, one of them stale. When the point is released, the reaper must look at
    // the earlier entry again.
    point.due = point.waiting ? std::min(point.due, due) : due;
    point.waiting = true;
    return true;
  }
  return false;
}

bool Failpoints::keeps(const LiveTable& table, std::string_view key) const {
  const Lock lock(mutex_);
  return std::any_of(points_.begin(), points_.end(),
                     [&](const Point& point) { return point.table.get() == &table && point.key == key; });
}

void Failpoints::forget(const LiveTable& table) {
  const Lock lock(mutex_);
  points_.remove_if([&](const Point& point) { return point.table.get() == &table; });
  any_ = !points_.empty();
  released_.notify_all();
}

bool Failpoints::wait_for_release(std::string_view account, const std::stop_token& stop) {
  Lock lock(mutex_);
  const auto waits = [&]() REQUIRES(mutex_) {
    return std::any_of(points_.begin(), points_.end(), [&](const Point& point) {
      return point.waiting && point.table->account().id() == account;
    });
  };
  if (!waits()) return false;
  return released_.wait(lock, stop, [&]() REQUIRES(mutex_) { return !waits(); });
}

}  // namespace mayfly::engine
