// Deletes expired items.
//
// The reaper reads due entries from the expiry index and removes each item through
// Transaction::remove_expired, with Cause::time_to_live.
//
// Guarantees:
// - An item is removed at the first instant of its account's clock that is after its TTL, or at the instant
//   that its table's mode sets (expiry_mode.h), and never earlier. The index entry only says when to look;
//   the item is checked under its lock.
// - The items of a table are removed in expiry order, and in key order if they expire at the same instant.
// - Removals run in small batches, so that writers can run between batches.
// - No account waits for another account's backlog. One task serves all accounts: each step deletes a few
//   items of every account that has expired items. The task sleeps until the next item fires.
// - A failed removal is retried.
//
// Readers and writers do not depend on the reaper's progress: an item that has fired is already hidden from
// them (departed.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/time/account.h"

namespace mayfly::engine {

class Catalog;
class ExpiryIndex;
class Failpoints;
class LiveTable;
class Storage;
struct WritePath;

class Reaper {
 public:
  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Accounts& accounts;
    const Catalog& catalog;
    const Storage& storage;
    const ExpiryIndex& expiry;
    Failpoints& failpoints;
    const WritePath& path;
    std::function<void(std::string_view)> notice;  // receives sentences about deletions; empty: no reports
  };

  Reaper(Uses uses, std::shared_ptr<Scheduler> scheduler);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Starts reaping in the background. Before this call, only the functions below delete items.
  // Requires: no thread can wake the reaper before this call.
  void start();
  // Makes running sweeps end soon. Items that are still due are deleted after the next start of the database.
  // Background steps end when the scheduler ends.
  void stop() { stop_ = true; }

  // Deletes all items that fire now, in every account. Returns the number of deleted items.
  std::int64_t reap_due();
  // Deletes all items that are due in the table, in any expiry mode. Returns the number of deleted items.
  std::int64_t sweep(const std::shared_ptr<LiveTable>& table, const std::stop_token& stop = {});

  // Unfinished sweeps, which continue while a clock moves from one instant to the next.
  class Sweeps;

  // Deletes all items that fire by `now`. Continues sweeps that `sweeps` holds from earlier instants of the
  // same turn. Ends early if `stop` is requested.
  void sweep_account(const Account::Turn& turn, Instant now, Sweeps& sweeps, Deletions& deletions,
                     const std::stop_token& stop = {});
  // Deletes all items of the table that are due by `now`, in any expiry mode. Between its steps, also deletes
  // items that fire in the account's other tables. Ends early if `stop` is requested.
  void sweep_table(const Account::Turn& turn, const std::shared_ptr<LiveTable>& table, Instant now,
                   Deletions& deletions, const std::stop_token& stop = {});
  // Deletes at most `items_max` items that have fired, in this table only.
  void sweep_some(const Account::Turn& turn, TableId table, std::size_t items_max);
  // The instant at which the account's next item fires, according to the expiry index; nullopt if none fires.
  std::optional<Instant> next_expiry(const Account::Turn& turn);

  // For tests: the number of times that the background task has examined an account.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  enum class Which : std::uint8_t { fires, due };
  enum class Progress : std::uint8_t {
    more,      // more entries may remain
    done,      // no wanted entry remains, and the timer is settled
    outdated,  // the table was changed or dropped; a new sweep must begin
  };
  struct Sweep;
  class Rounds;
  // Begins a sweep at the low watermark of the timer in `look`. Returns nullopt if `look` is nullopt, if the
  // timer is later than `now`, or if the table no longer exists.
  std::optional<Sweep> begin(const Account::Turn& turn, const std::optional<TimerQueue::Look>& look,
                             Instant now, Which which);
  // Sweeps at most `items_max` further entries, deletes their expired items and counts them in `deletions`.
  Progress step(Sweep& sweep, std::size_t items_max, Deletions& deletions);
  // Calls step() until the sweep is done. Calls `between` after each step that returns `more`. Ends early if
  // `stop` is requested.
  template <class Between>
  Progress run(Sweep& sweep, Deletions& deletions, const std::stop_token& stop, Between between);
  [[nodiscard]] bool ends(const std::stop_token& stop) const { return stop_ || stop.stop_requested(); }

  const Uses uses_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // set by start()
  std::atomic<bool> stop_{false};
};

class Reaper::Sweeps {
 public:
  Sweeps();
  ~Sweeps();
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;

 private:
  friend Reaper;
  std::map<TableId, std::unique_ptr<Sweep>> by_table_;
};

}  // namespace mayfly::engine
