// Due entries -> Transaction::remove_expired, by Cause::time_to_live.
//
// An item goes at the first instant of its account's clock that is after its TTL (or when its table's mode
// says: expiry_mode.h), never earlier: the entry says when to look, the item under its lock says whether.
// What is due goes in due order, and in the order of its keys at the same instant, in small batches, so that
// writers get their turn. One task for all accounts, at rest until something fires; of each account a step
// deletes a little, then it is the next one's turn, so that nobody waits for another's backlog. What
// fails is tried again later.
//
// Nobody has to wait for it either: what has fired is hidden from whoever reads or writes (departed.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "engine/account.h"
#include "engine/clock.h"

namespace mayfly::engine {

class Database;
class LiveTable;

class Reaper {
 public:
  Reaper(Database& database, std::shared_ptr<Scheduler> scheduler);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // From now on it is woken by what falls due; else only what follows reaps. Before anything can wake it.
  void start();
  // Sweeps under way end soon, a backlog is left for the next start. Steps end with the scheduler.
  void stop() { stop_ = true; }

  // What is read of expiry indexes, for a clock that goes from instant to instant.
  class Sweeps;

  // Deletes what fires by now, going on with what `sweeps` has from earlier instants of the same turn. Ends
  // early if `stop` is requested, as the next one does.
  void sweep_account(const Account::Turn& turn, Instant now, Sweeps& sweeps, Deletions& deletions,
                     const std::stop_token& stop = {});
  // Deletes what is due in the account's table, whatever its mode, and meanwhile what fires in the account's
  // others.
  void sweep_table(const Account::Turn& turn, const std::shared_ptr<LiveTable>& table, Instant now,
                   Deletions& deletions, const std::stop_token& stop = {});
  // Deletes at most `items_max` of what has fired in this table alone.
  void sweep_some(const Account::Turn& turn, TableId table, std::size_t items_max);
  // When something of the account fires next, as the expiry index has it.
  std::optional<Instant> next_expiry(const Account::Turn& turn);

  // For tests: how many accounts its rounds have looked at.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  enum class Which : std::uint8_t { fires, due };
  enum class Progress : std::uint8_t {
    more,      // is left to do
    done,      // and the timer settled
    outdated,  // the table changed or went away: look again
  };
  struct Sweep;
  class Rounds;
  // Nothing: the table is gone.
  std::optional<Sweep> begin(const Account::Turn& turn, const TimerQueue::Look& look, Instant now,
                             Which which);
  // Deletes at most so many items more.
  Progress step(Sweep& sweep, std::size_t items_max, Deletions& deletions);
  [[nodiscard]] bool ends(const std::stop_token& stop) const { return stop_ || stop.stop_requested(); }

  Database& database_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // from start() on
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
