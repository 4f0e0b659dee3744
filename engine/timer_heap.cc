#include "engine/timer_heap.h"

namespace mayfly::engine {

void TimerHeap::push(TableId table, Instant due) {
  const std::lock_guard lock(mutex_);
  const auto [known, inserted] = due_.try_emplace(table, due);
  if (!inserted) {
    if (known->second <= due) return;
    order_.erase({known->second, table});
    known->second = due;
  }
  const auto place = order_.insert({due, table}).first;
  if (place != order_.begin()) return;
  ++changes_;
  changed_.notify_all();
}

void TimerHeap::forget(TableId table) {
  const std::lock_guard lock(mutex_);
  const auto known = due_.find(table);
  if (known == due_.end()) return;
  order_.erase({known->second, table});
  due_.erase(known);
}

std::optional<TimerHeap::Timer> TimerHeap::earliest() const {
  const std::lock_guard lock(mutex_);
  if (order_.empty()) return std::nullopt;
  return Timer{order_.begin()->first, order_.begin()->second};
}

std::optional<TimerHeap::Timer> TimerHeap::pop_due(Instant now) {
  const std::lock_guard lock(mutex_);
  if (order_.empty() || order_.begin()->first > now) return std::nullopt;
  const Timer timer{order_.begin()->first, order_.begin()->second};
  order_.erase(order_.begin());
  due_.erase(timer.table);
  return timer;
}

std::size_t TimerHeap::size() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

TimerHeap::Ticket TimerHeap::ticket() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void TimerHeap::wait(Ticket ticket, std::optional<std::chrono::nanoseconds> real_time_max) {
  std::unique_lock lock(mutex_);
  const auto changed = [&] { return changes_ != ticket; };
  if (!real_time_max) return changed_.wait(lock, changed);
  // By the host's clock, not by a steady one: if it is set, or the machine slept, we wake when it says so.
  const auto deadline = host_time() + std::chrono::ceil<std::chrono::system_clock::duration>(*real_time_max);
  changed_.wait_until(lock, deadline, changed);
}

void TimerHeap::wake() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

}  // namespace mayfly::engine
