#include "engine/timer_heap.h"

#include "engine/expiry_mode.h"

namespace mayfly::engine {

void TimerHeap::push(const Timer& timer) {
  {
    const std::lock_guard lock(mutex_);
    const auto [known, inserted] = timers_.try_emplace(timer.table, timer);
    if (!inserted) {
      if (known->second.due <= timer.due) return;
      order_.erase({known->second.fires, timer.table});
      known->second = timer;
    }
    if (timer.fires == never) return;
    const auto place = order_.insert({timer.fires, timer.table}).first;
    if (place != order_.begin()) return;
  }
  bell_.ring();
}

std::optional<TimerHeap::Timer> TimerHeap::take(TableId table) {
  const auto known = timers_.find(table);
  if (known == timers_.end()) return std::nullopt;
  const Timer timer = known->second;
  order_.erase({timer.fires, table});
  timers_.erase(known);
  return timer;
}

void TimerHeap::forget(TableId table) {
  const std::lock_guard lock(mutex_);
  (void)take(table);
}

std::optional<TimerHeap::Timer> TimerHeap::earliest() const {
  const std::lock_guard lock(mutex_);
  if (order_.empty()) return std::nullopt;
  return timers_.at(order_.begin()->second);
}

std::optional<TimerHeap::Timer> TimerHeap::of(TableId table) const {
  const std::lock_guard lock(mutex_);
  const auto known = timers_.find(table);
  if (known == timers_.end()) return std::nullopt;
  return known->second;
}

std::optional<TimerHeap::Timer> TimerHeap::pop(Instant now) {
  const std::lock_guard lock(mutex_);
  if (order_.empty() || order_.begin()->first > now) return std::nullopt;
  return take(order_.begin()->second);
}

std::size_t TimerHeap::size() const {
  const std::lock_guard lock(mutex_);
  return timers_.size();
}

}  // namespace mayfly::engine
