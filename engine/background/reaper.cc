#include "engine/background/reaper.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/attempt.h"
#include "engine/base/stopwatch.h"
#include "engine/items/failpoints.h"
#include "engine/items/transaction.h"
#include "engine/items/write_path.h"
#include "engine/schema/expiry_mode.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/agenda.h"
#include "engine/time/expiry_index.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t batch_items_max = 64;   // items that are locked together, for less than a millisecond
constexpr std::size_t slice_items_max = 256;  // items of one account, before the next account is served
constexpr std::size_t kept_sweeps_max = 16;   // each kept sweep holds an iterator

std::int64_t total(const Deletions& deletions) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : deletions) sum += count;
  return sum;
}

struct Entry {
  Instant due;
  std::string item_key;
};
}  // namespace

// A walk over the due entries of one table, as they were when the sweep began. The iterator only moves
// forward, so it never reads the tombstones that the sweep itself leaves. If an entry is written during the
// sweep, its writer pushes a timer, and settle() takes this timer into account.
struct Reaper::Sweep {
  TimerQueue::Look look;
  std::shared_ptr<LiveTable> table;
  std::shared_ptr<const Table> description;
  Instant now;
  Which which;
  Storage::Iterator iterator;

  [[nodiscard]] bool wants(Instant due) const {
    return due <= now && (which == Which::due || fires_at(*description, due) <= now);
  }
  // The timer for the entry that the iterator is at; nullopt at the end.
  [[nodiscard]] std::optional<TimerQueue::Timer> timer_here() const {
    if (!iterator.valid()) return std::nullopt;
    const Instant due = ExpiryIndex::due_in(iterator.key());
    return TimerQueue::Timer{look.timer.table, due, fires_at(*description, due)};
  }
};

std::optional<Reaper::Sweep> Reaper::begin(const Account::Turn& turn,
                                           const std::optional<TimerQueue::Look>& look, Instant now,
                                           Which which) {
  if (!look || (which == Which::due ? look->timer.due : look->timer.fires) > now) return std::nullopt;
  const TableId id = look->timer.table;
  std::shared_ptr<LiveTable> table = uses_.catalog.find(id);
  if (!table) {
    turn.account().timers().forget(id);
    return std::nullopt;
  }
  std::shared_ptr<const Table> description = table->description();
  Storage::Iterator iterator(uses_.storage, uses_.expiry.position(id, look->timer.due),
                             ExpiryIndex::never_begin(id));
  iterator.seek_to_first();
  return Sweep{*look, std::move(table), std::move(description), now, which, std::move(iterator)};
}

template <class Between>
Reaper::Progress Reaper::run(Sweep& sweep, Deletions& deletions, const std::stop_token& stop,
                             Between between) {
  for (;;) {
    const Progress progress = step(sweep, slice_items_max, deletions);
    if (progress != Progress::more || ends(stop)) return progress;
    between();
  }
}

Reaper::Progress Reaper::step(Sweep& sweep, std::size_t items_max, Deletions& deletions) {
  Storage::Iterator& iterator = sweep.iterator;
  std::vector<Entry> batch;
  for (std::size_t swept = 0; swept < items_max; swept += batch.size()) {
    batch.clear();
    for (; iterator.valid() && batch.size() < std::min(batch_items_max, items_max - swept); iterator.next()) {
      const Instant due = ExpiryIndex::due_in(iterator.key());
      if (!sweep.wants(due)) break;
      const std::string_view item_key = ExpiryIndex::item_key_in(iterator.key());
      if (uses_.failpoints.any() && uses_.failpoints.holds(*sweep.table, item_key, due)) continue;
      batch.push_back({due, std::string(item_key)});
    }
    if (batch.empty()) {
      sweep.table->account().timers().settle(sweep.look, sweep.timer_here());
      return Progress::done;
    }
    Transaction transaction(uses_.path, Cause::time_to_live);
    for (const Entry& entry : batch) transaction.add(sweep.table, entry.item_key);
    if (!transaction.lock()) return Progress::outdated;
    // A new expiry mode or TTL attribute applies from the next batch on, because the change makes the reaper
    // look at the table again.
    if (&transaction.table(0) != sweep.description.get()) return Progress::outdated;
    std::int64_t removed = 0;
    for (std::size_t slot = 0; slot < batch.size(); ++slot)
      removed += transaction.remove_expired(slot, batch[slot].due) ? 1 : 0;
    transaction.commit();
    if (removed > 0) deletions[sweep.description->name] += removed;
  }
  return Progress::more;
}

Reaper::Sweeps::Sweeps() = default;
Reaper::Sweeps::~Sweeps() = default;

std::int64_t Reaper::reap_due() {
  Deletions deletions;
  for (Account* account : uses_.accounts.all()) {
    const Account::Turn turn = account->take_turn();
    Sweeps sweeps;
    sweep_account(turn, account->clock().now(), sweeps, deletions);
  }
  return total(deletions);
}

std::int64_t Reaper::sweep(const std::shared_ptr<LiveTable>& table, const std::stop_token& stop) {
  Account& account = table->account();
  Deletions deletions;
  const Account::Turn turn = account.take_turn();
  sweep_table(turn, table, account.clock().now(), deletions, stop);
  return total(deletions);
}

void Reaper::sweep_account(const Account::Turn& turn, Instant now, Sweeps& sweeps, Deletions& deletions,
                           const std::stop_token& stop) {
  TimerQueue& timers = turn.account().timers();
  while (!ends(stop)) {
    const std::optional<TimerQueue::Timer> timer = timers.earliest();
    if (!timer || timer->fires > now) return;
    if (sweeps.by_table_.size() > kept_sweeps_max) sweeps.by_table_.clear();
    std::unique_ptr<Sweep>& sweep = sweeps.by_table_[timer->table];
    if (sweep && timers.is_whole(sweep->look)) {
      sweep->now = now;
    } else {
      auto begun = begin(turn, timers.look(timer->table), now, Which::fires);
      sweep = begun ? std::make_unique<Sweep>(*std::move(begun)) : nullptr;
    }
    if (sweep && run(*sweep, deletions, stop, [] {}) == Progress::outdated) sweep.reset();
  }
}

void Reaper::sweep_table(const Account::Turn& turn, const std::shared_ptr<LiveTable>& table, Instant now,
                         Deletions& deletions, const std::stop_token& stop) {
  TimerQueue& timers = turn.account().timers();
  Progress progress = Progress::outdated;
  while (progress == Progress::outdated && !table->dropped()) {
    std::optional<Sweep> sweep = begin(turn, timers.look(table->id()), now, Which::due);
    if (!sweep) return;
    progress = run(*sweep, deletions, stop, [&] {
      // The reaper skips the account while the caller holds the account's turn, so fired items of other
      // tables are deleted here.
      for (const TableId other : timers.firing(turn.account().clock().now())) {
        if (other != table->id()) sweep_some(turn, other, std::numeric_limits<std::size_t>::max());
      }
    });
  }
}

void Reaper::sweep_some(const Account::Turn& turn, TableId table, std::size_t items_max) {
  Account& account = turn.account();
  std::optional<Sweep> sweep = begin(turn, account.timers().look(table), account.clock().now(), Which::fires);
  Deletions deletions;
  if (sweep) step(*sweep, items_max, deletions);
}

std::optional<Instant> Reaper::next_expiry(const Account::Turn& turn) {
  TimerQueue& timers = turn.account().timers();
  // A timer may be earlier than the first entry of its table's index, because an item was renewed or deleted.
  // Repeat until the earliest timer agrees with the index.
  while (const auto look = timers.look_earliest()) {
    const std::optional<Sweep> sweep = begin(turn, look, never, Which::fires);
    if (!sweep) continue;
    const std::optional<TimerQueue::Timer> next = sweep->timer_here();
    timers.settle(*look, next);
    if (next && next->fires <= look->timer.fires)
      return next->fires == never ? std::nullopt : std::optional(next->fires);
  }
  return std::nullopt;
}

// Each step is one round: it deletes a few items of each account that may have expired items.
class Reaper::Rounds final : public Task {
 public:
  explicit Rounds(Reaper& reaper) : reaper_(reaper) {}

  // Tells the task that the account may have items to reap.
  void add(Account& account) { agenda_.add(&account); }
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }

 private:
  Next step() override {
    for (Account* account : agenda_.take(reaper_.scheduler_->now())) {
      if (reaper_.stop_) return Next::when_woken();
      const std::optional<Account::Turn> turn = account->try_reapers_turn();
      if (!turn) continue;  // the end of the current turn wakes this task
      const auto reap = [&] {
        std::optional<Sweep> sweep;
        if (const auto kept = sweeps_.extract(account)) sweep = std::move(kept.mapped());
        reap_a_little(*turn, sweep);
        if (sweep) sweeps_.emplace(account, *std::move(sweep));
        const auto timer = account->timers().earliest();
        const auto left = timer ? account->clock().real_time_until(timer->fires) : std::nullopt;
        if (left) look_again(*account, *left);
      };
      // After a failure, the index and the timer are unchanged, so the items are still due.
      attempt(reap, [&](std::string_view) { look_again(*account, fault_wait); });
    }
    std::optional<RealTime> alarm = agenda_.next_alarm();
    if (!expired_.empty()) {
      const std::chrono::nanoseconds rest = told_ ? notice_pause - told_->elapsed() : notice_pause * 0;
      if (rest.count() <= 0) {
        tell();
      } else {
        alarm = std::min(alarm.value_or(time_after(rest)), time_after(rest));
      }
    }
    return alarm ? Next::at(*alarm) : Next::when_woken();
  }

  [[nodiscard]] RealTime time_after(std::chrono::nanoseconds pause) const {
    return reaper_.scheduler_->now() + std::chrono::ceil<RealTime::duration>(pause);
  }
  void look_again(Account& account, std::chrono::nanoseconds pause) {
    agenda_.set_alarm(&account, time_after(pause));
  }

  Next failed(std::string_view) override { return Next::after(*reaper_.scheduler_, fault_wait); }

  void reap_a_little(const Account::Turn& turn, std::optional<Sweep>& sweep) {
    TimerQueue& timers = turn.account().timers();
    if (sweep && !timers.is_current(sweep->look)) sweep.reset();
    if (!sweep) {
      const Instant now = turn.account().clock().now();
      if (auto begun = reaper_.begin(turn, timers.look_firing(now), now, Which::fires))
        sweep.emplace(*std::move(begun));
    }
    Deletions deletions;
    if (sweep && reaper_.step(*sweep, slice_items_max, deletions) != Progress::more) sweep.reset();
    if (!reaper_.uses_.notice) return;
    if (deletions.empty()) return;
    Deletions& expired = expired_[turn.account().id()];
    for (const auto& [table, count] : deletions) expired[table] += count;
  }

  void tell() {
    for (const auto& [account, expired] : expired_) reaper_.uses_.notice(sentence_of(account, expired));
    expired_.clear();
    told_.emplace();
  }

  // "expired 12 items of account 000000000000: carts 10, sessions 2"
  static std::string sentence_of(const std::string& account, const Deletions& expired) {
    std::int64_t items = 0;
    std::string tables;
    for (const auto& [table, count] : expired) {
      items += count;
      if (tables.size() < notice_bytes_max)
        tables += (tables.empty() ? "" : ", ") + table + " " + std::to_string(count);
    }
    return "expired " + std::to_string(items) + (items == 1 ? " item" : " items") + " of account " + account +
           ": " + tables + (tables.size() < notice_bytes_max ? "" : ", ...");
  }

  static constexpr std::chrono::nanoseconds notice_pause = std::chrono::seconds(1);
  static constexpr std::size_t notice_bytes_max = 500;

  Reaper& reaper_;
  Agenda agenda_;
  std::map<Account*, Sweep> sweeps_;          // sweeps that the next round continues
  std::map<std::string, Deletions> expired_;  // deletions by account since the last tell()
  std::optional<Stopwatch> told_;             // measures the time since the last tell()
};

Reaper::Reaper(Uses uses, std::shared_ptr<Scheduler> scheduler)
    : uses_(std::move(uses)), scheduler_(std::move(scheduler)) {}

void Reaper::start() {
  rounds_ = std::make_shared<Rounds>(*this);
  uses_.accounts.reaper_waker().set([scheduler = scheduler_, rounds = rounds_](Account& account) {
    rounds->add(account);
    scheduler->wake(rounds);
  });
  for (Account* account : uses_.accounts.all()) rounds_->add(*account);
  scheduler_->wake(rounds_);
}

std::uint64_t Reaper::looks() const { return rounds_ ? rounds_->looks() : 0; }

}  // namespace mayfly::engine
