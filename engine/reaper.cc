#include "engine/reaper.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/change_log.h"
#include "engine/expiry_mode.h"
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

void Reaper::sweep(TimerHeap::Timer timer, Instant now, Which which, Deletions& deletions) {
  Database::Parts& parts = database_.parts();
  const std::shared_ptr<LiveTable> table = parts.catalog.find(timer.table);
  if (!table) return;  // dropped: its timer is gone with this
  const std::shared_ptr<const Table> description = table->description();
  const auto is_wanted = [&](Instant due) {
    return due <= now && (which == Which::due || fires_at(*description, due) <= now);
  };
  // One iterator for the sweep: it stays past the tombstones that the sweep itself makes.
  Storage::Iterator iterator(parts.storage(), parts.expiry.position(timer.table, timer.due),
                             prefix_end(table_prefix('X', timer.table)));
  iterator.seek_to_first();
  std::vector<Entry> batch;
  for (std::size_t swept = 0; swept < sweep_items_max && !stop_; swept += batch.size()) {
    batch.clear();
    for (; iterator.valid() && batch.size() < batch_items_max; iterator.next()) {
      const Instant due = ExpiryIndex::due_in(iterator.key());
      if (!is_wanted(due)) break;
      const std::string_view item_key = ExpiryIndex::item_key_in(iterator.key());
      if (parts.failpoints.any() && parts.failpoints.holds(*table, item_key, due)) continue;
      batch.push_back({due, std::string(item_key)});
    }
    if (batch.empty()) break;
    Transaction transaction(database_, Cause::time_to_live);
    for (const Entry& entry : batch) transaction.add(table, entry.item_key);
    if (!transaction.lock()) return;
    std::vector<Instant> removing;
    for (std::size_t slot = 0; slot < batch.size(); ++slot)
      if (transaction.remove_expired(slot, batch[slot].due)) removing.push_back(batch[slot].due);
    transaction.commit();
    for (const Instant due : removing) table->expiry_stats().record(now - due);
    if (!removing.empty()) deletions[description->name] += static_cast<std::int64_t>(removing.size());
  }
  if (!iterator.valid()) return;
  const Instant due = ExpiryIndex::due_in(iterator.key());
  table->account().timers().push({timer.table, due, fires_at(*description, due)});
}

void Reaper::sweep_or_put_back(TimerHeap& timers, const TimerHeap::Timer& timer, Instant now, Which which,
                               Deletions& deletions) {
  try {
    sweep(timer, now, which, deletions);
  } catch (...) {
    timers.push(timer);
    throw;
  }
}

void Reaper::sweep_account(Account& account, Instant now, Deletions& deletions) {
  TimerHeap& timers = account.timers();
  while (const std::optional<TimerHeap::Timer> timer = stop_ ? std::nullopt : timers.pop(now))
    sweep_or_put_back(timers, *timer, now, Which::fires, deletions);
}

void Reaper::sweep_table(const std::shared_ptr<LiveTable>& table, Instant now, Deletions& deletions) {
  TimerHeap& timers = table->account().timers();
  for (auto timer = timers.of(table->id()); timer && timer->due <= now && !stop_; timer = timers.of(table->id())) {
    timers.forget(table->id());
    sweep_or_put_back(timers, *timer, now, Which::due, deletions);
  }
}

std::optional<Instant> Reaper::next_expiry(Account& account) {
  Database::Parts& parts = database_.parts();
  TimerHeap& timers = account.timers();
  // A timer may be early, its item renewed or deleted: until the earliest agrees with the index.
  while (const auto timer = timers.earliest()) {
    const std::shared_ptr<LiveTable> table = parts.catalog.find(timer->table);
    timers.forget(timer->table);
    if (!table) continue;
    Storage::Iterator iterator(parts.storage(), parts.expiry.position(timer->table, timer->due),
                               prefix_end(table_prefix('X', timer->table)));
    iterator.seek_to_first();
    if (!iterator.valid()) continue;
    const Instant due = ExpiryIndex::due_in(iterator.key());
    const TimerHeap::Timer exact{timer->table, due, fires_at(*table->description(), due)};
    timers.push(exact);
    if (exact.fires <= timer->fires) return exact.fires;
  }
  return std::nullopt;
}

Instant Reaper::trim_streams(Account& account) {
  const Instant now = account.stream_now();
  const std::optional<Instant> oldest =
      database_.parts().change_log.trim(account.id(), account.instant_of_stream_time(now - retention_ms));
  account.forget_jumps_before(oldest.value_or(account.clock().now()));
  return std::max((oldest ? account.stream_time_of(*oldest) : now) + retention_ms + 1, now + trim_pause_ms);
}

void Reaper::start() {
  thread_ = std::thread([this] { run(); });
}

void Reaper::run() {
  Database::Parts& parts = database_.parts();
  std::map<Account*, Instant> next_trims;  // in stream time
  for (;;) {
    const Bell::Ticket ticket = parts.accounts.bell().ticket();
    std::optional<std::chrono::nanoseconds> pause;
    const auto wake_at = [&](const Account& account, Instant instant) {
      const auto left = account.clock().real_time_until(instant);
      if (left) pause = std::min(pause.value_or(*left), *left);
    };
    for (Account* account : parts.accounts.all()) {
      // Who holds it sweeps, and rings when it is done.
      const std::unique_lock moving(account->moving(), std::try_to_lock);
      if (!moving) continue;
      try {
        // One sweep at a time, so that an account's backlog does not keep the others waiting.
        Deletions deletions;
        if (const auto timer = account->timers().pop(account->clock().now()))
          sweep_or_put_back(account->timers(), *timer, account->clock().now(), Which::fires, deletions);
        if (const auto timer = account->timers().earliest()) wake_at(*account, timer->fires);

        const auto [next_trim, first_look] = next_trims.try_emplace(account, 0);
        if (next_trim->second <= account->stream_now()) next_trim->second = trim_streams(*account);
        wake_at(*account, account->instant_of_stream_time(next_trim->second));
      } catch (const StorageFault&) {
        // What is due stays due: the index and the timer are as they were.
        pause = std::min<std::chrono::nanoseconds>(pause.value_or(fault_pause), fault_pause);
      }
    }
    if (stop_) return;
    parts.accounts.bell().wait(ticket, pause);
  }
}

Reaper::~Reaper() {
  if (!thread_.joinable()) return;
  stop_ = true;
  database_.parts().accounts.bell().ring();
  thread_.join();
}

}  // namespace mayfly::engine
