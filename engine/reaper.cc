#include "engine/reaper.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "engine/change_log.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/parts.h"
#include "engine/transaction.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t batch_items_max = 64;      // locked together: below a millisecond
constexpr std::size_t sweep_items_max = 8192;    // of one table, before the others have their turn
constexpr std::chrono::seconds fault_pause{1};   // before storage that failed is tried again
constexpr Instant retention_ms = 24 * 3600 * 1000;
constexpr Instant trim_pause_ms = 60 * 1000;     // records are trimmed in lots, not one by one

struct Entry {
  Instant due;
  std::string item_key;
};
}  // namespace

std::int64_t Reaper::sweep(TimerHeap::Timer timer, Instant now) {
  Database::Parts& parts = database_.parts();
  const std::shared_ptr<LiveTable> table = parts.catalog.find(timer.table);
  if (!table) return 0;  // dropped: its timer is gone with this
  std::int64_t removed = 0;
  // One iterator for the sweep: it stays past the tombstones that the sweep itself makes.
  Storage::Iterator iterator(parts.storage(), parts.expiry.position(timer.table, timer.due),
                             prefix_end(table_prefix('X', timer.table)));
  iterator.seek_to_first();
  std::vector<Entry> batch;
  for (std::size_t swept = 0; swept < sweep_items_max && !stop_; swept += batch.size()) {
    batch.clear();
    for (; iterator.valid() && batch.size() < batch_items_max; iterator.next()) {
      const Instant due = ExpiryIndex::due_in(iterator.key());
      if (due > now) break;
      batch.push_back({due, std::string(ExpiryIndex::item_key_in(iterator.key()))});
    }
    if (batch.empty()) break;
    Transaction transaction(database_, Cause::time_to_live);
    for (const Entry& entry : batch) transaction.add(table, entry.item_key);
    if (!transaction.lock()) return removed;
    std::int64_t removing = 0;
    for (std::size_t slot = 0; slot < batch.size(); ++slot)
      removing += transaction.remove_expired(slot, batch[slot].due) ? 1 : 0;
    transaction.commit();
    removed += removing;
  }
  if (iterator.valid()) parts.timers.push(timer.table, ExpiryIndex::due_in(iterator.key()));
  return removed;
}

std::int64_t Reaper::sweep_all(Instant now) {
  TimerHeap& timers = database_.parts().timers;
  std::int64_t removed = 0;
  while (const std::optional<TimerHeap::Timer> timer = stop_ ? std::nullopt : timers.pop_due(now)) {
    try {
      removed += sweep(*timer, now);
    } catch (...) {
      timers.push(timer->table, timer->due);
      throw;
    }
  }
  return removed;
}

std::int64_t Reaper::reap_due() {
  const std::lock_guard lock(sweeping_);
  return sweep_all(database_.parts().clock->now());
}

std::int64_t Reaper::advance(ManualClock& clock, Instant to, bool age_streams) {
  const std::lock_guard lock(sweeping_);
  TimerHeap& timers = database_.parts().timers;
  std::int64_t removed = 0;
  for (auto timer = timers.earliest(); timer && timer->due <= to; timer = timers.earliest()) {
    clock.set(std::max(clock.now(), timer->due));
    removed += sweep_all(clock.now());
  }
  clock.set(std::max(clock.now(), to));
  if (age_streams) trim_streams();
  return removed;
}

void Reaper::trim_streams() {
  Database::Parts& parts = database_.parts();
  const Instant now = parts.clock->now();
  const Instant oldest = parts.change_log.trim(now - retention_ms).value_or(now);
  next_trim_ = std::max(oldest + retention_ms + 1, now + trim_pause_ms);
}

void Reaper::start() {
  thread_ = std::thread([this] { run(); });
}

void Reaper::run() {
  Database::Parts& parts = database_.parts();
  // Time that stands still, or is moved by hand, does not age streams; advance() does where it is asked to.
  const bool ages = dynamic_cast<const ManualClock*>(parts.clock.get()) == nullptr;
  for (;;) {
    const TimerHeap::Ticket ticket = parts.timers.ticket();
    std::optional<std::chrono::nanoseconds> pause;
    const auto wake_at = [&](Instant instant) {
      const auto left = parts.clock->real_time_until(instant);
      if (left) pause = std::min(pause.value_or(*left), *left);
    };
    try {
      reap_due();
      if (const auto timer = parts.timers.earliest()) wake_at(timer->due);
      if (ages) {
        const std::lock_guard lock(sweeping_);
        if (!next_trim_ || *next_trim_ <= parts.clock->now()) trim_streams();
        wake_at(*next_trim_);
      }
    } catch (const StorageFault&) {
      // What is due stays due: the index and the timer are as they were.
      pause = fault_pause;
    }
    if (stop_) return;
    parts.timers.wait(ticket, pause);
  }
}

Reaper::~Reaper() {
  if (!thread_.joinable()) return;
  stop_ = true;
  database_.parts().timers.wake();
  thread_.join();
}

}  // namespace mayfly::engine
