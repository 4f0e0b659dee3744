// Due entries -> Transaction::remove_expired, by Cause::time_to_live.
//
// An item goes at the first instant of its account's clock that is after its TTL (or when its table's mode says:
// expiry_mode.h), never earlier: the entry says when to look, the item under its lock says whether. What is due
// goes in due order, and in the order of its keys at the same instant, in small batches, so that writers get their
// turn. One thread for all accounts, asleep until something fires; storage that fails is tried again later.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "engine/account.h"
#include "engine/clock.h"

namespace mayfly::engine {

class Database;
class LiveTable;

class Reaper {
 public:
  explicit Reaper(Database& database) : database_(database) {}
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  void start();  // the thread; without it only what follows reaps

  // Deletes what fires by now. The caller holds account.moving().
  void sweep_account(Account& account, Instant now, Deletions& deletions);
  // Deletes what is due in the table, whatever its mode. Likewise.
  void sweep_table(const std::shared_ptr<LiveTable>& table, Instant now, Deletions& deletions);
  // When something of the account fires next, as the expiry index has it. Likewise.
  std::optional<Instant> next_expiry(Account& account);
  // Forgets stream records that are too old. Returns the stream time at which that is worth while again.
  Instant trim_streams(Account& account);

 private:
  enum class Which : std::uint8_t { fires, due };

  void run();
  // With a timer that was taken out of its heap: storage that fails leaves it there.
  void sweep_or_put_back(TimerHeap& timers, const TimerHeap::Timer& timer, Instant now, Which which,
                         Deletions& deletions);
  // At most so many of one table; then the others have their turn.
  void sweep(TimerHeap::Timer timer, Instant now, Which which, Deletions& deletions);

  Database& database_;
  std::atomic<bool> stop_{false};  // a backlog is left for the next start
  std::thread thread_;
};

}  // namespace mayfly::engine
