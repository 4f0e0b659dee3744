#include "engine/time/timer_queue.h"

#include "engine/schema/expiry_mode.h"

namespace mayfly::engine {

bool TimerQueue::set(Entry& entry, const Timer& timer) {
  order_.erase({entry.timer.fires, timer.table});
  entry.timer = timer;
  if (timer.fires == never) return false;
  const auto place = order_.insert({timer.fires, timer.table}).first;
  return place == order_.begin();
}

void TimerQueue::push(const Timer& timer) {
  {
    const Lock lock(mutex_);
    const auto [known, inserted] = timers_.try_emplace(timer.table, Entry{timer});
    Entry& entry = known->second;
    if (!entry.pushed || timer.due < entry.pushed->due) entry.pushed = timer;
    if (!inserted && entry.timer.due <= timer.due) return;
    if (!set(entry, timer)) return;
  }
  wake_reaper_();
}

void TimerQueue::forget(TableId table) {
  const Lock lock(mutex_);
  const auto known = timers_.find(table);
  if (known == timers_.end()) return;
  order_.erase({known->second.timer.fires, table});
  timers_.erase(known);
}

std::optional<TimerQueue::Timer> TimerQueue::earliest() const {
  const Lock lock(mutex_);
  if (order_.empty()) return std::nullopt;
  return timers_.at(order_.begin()->second).timer;
}

std::optional<TimerQueue::Timer> TimerQueue::of(TableId table) const {
  const Lock lock(mutex_);
  const auto known = timers_.find(table);
  if (known == timers_.end()) return std::nullopt;
  return known->second.timer;
}

std::vector<TableId> TimerQueue::firing(Instant now) const {
  std::vector<TableId> tables;
  const Lock lock(mutex_);
  for (const auto& [fires, table] : order_) {
    if (fires > now) break;
    tables.push_back(table);
  }
  return tables;
}

std::size_t TimerQueue::size() const {
  const Lock lock(mutex_);
  return timers_.size();
}

// --- looks

TimerQueue::Look TimerQueue::begin_look(Entry& entry) {
  entry.look = ++last_look_;
  entry.pushed.reset();
  return {entry.timer, entry.look};
}

std::optional<TimerQueue::Look> TimerQueue::look(TableId table) {
  const Lock lock(mutex_);
  const auto known = timers_.find(table);
  if (known == timers_.end()) return std::nullopt;
  return begin_look(known->second);
}

std::optional<TimerQueue::Look> TimerQueue::look_earliest() { return look_firing(never); }

std::optional<TimerQueue::Look> TimerQueue::look_firing(Instant now) {
  const Lock lock(mutex_);
  if (order_.empty() || order_.begin()->first > now) return std::nullopt;
  return begin_look(timers_.at(order_.begin()->second));
}

bool TimerQueue::is_current(const Look& look) const {
  const Lock lock(mutex_);
  const auto known = timers_.find(look.timer.table);
  return known != timers_.end() && known->second.look == look.number;
}

bool TimerQueue::is_whole(const Look& look) const {
  const Lock lock(mutex_);
  const auto known = timers_.find(look.timer.table);
  return known != timers_.end() && known->second.look == look.number && !known->second.pushed;
}

void TimerQueue::settle(const Look& look, std::optional<Timer> next) {
  const Lock lock(mutex_);
  const auto known = timers_.find(look.timer.table);
  if (known == timers_.end() || known->second.look != look.number) return;
  Entry& entry = known->second;
  if (entry.pushed && (!next || entry.pushed->due < next->due)) next = entry.pushed;
  if (next) {
    set(entry, *next);
  } else {
    order_.erase({entry.timer.fires, look.timer.table});
    timers_.erase(known);
  }
}

}  // namespace mayfly::engine
