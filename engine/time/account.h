// An account has its own tables and streams (catalog.h), its own clock and its own timers.
//
//   Account& account = accounts.of("000000000042");     // created on first use, never destroyed
//   account.clock().now();
//
// The account's clock is kept in storage, so that time continues after a restart: a frozen clock keeps its
// time, and every other clock continues as if it had run while the server was down.
//
//   'C' account -> mode:u8 rate:f64le host:i64le here:i64le jumps   AccountClock::Anchor, then StreamTime
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/gate.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/storage/before_images.h"
#include "engine/time/stream_time.h"
#include "engine/time/timer_queue.h"

namespace mayfly::engine {

class Account;
class Batch;
class Storage;

// Wakes a task for one account. wake() does nothing until set() has been called. Requires: set() is called
// before another thread can call wake().
class AccountWaker {
 public:
  void set(std::function<void(Account&)> wake) { wake_ = std::move(wake); }
  void wake(Account& account) const {
    if (wake_) wake_(account);
  }

 private:
  std::function<void(Account&)> wake_;
};

// Number of deleted items, by table name.
using Deletions = std::map<std::string, std::int64_t, std::less<>>;

class Account {
 public:
  // The right to sweep the account, to move its clock and to replace its tables. Only one thread at a time
  // can hold it, and a thread takes it before any table's gate. Functions that need the turn have a
  // parameter for it. The reaper skips an account whose turn another thread holds. The end of a turn
  // therefore wakes the reaper, after the turn has been released, so that the reaper misses nothing that
  // became due in the meantime.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : account_(std::exchange(other.account_, nullptr)), wakes_(other.wakes_) {}
    Turn& operator=(Turn&&) = delete;
    // The analysis is disabled because a Turn can be moved, so only the value of the Turn says which account
    // it belongs to.
    ~Turn() NO_THREAD_SAFETY_ANALYSIS {
      if (account_ == nullptr) return;
      account_->turn_.unlock();
      if (wakes_) account_->reaper_waker_.wake(*account_);
    }
    [[nodiscard]] Account& account() const { return *account_; }

   private:
    friend class Account;
    Turn(Account& account, bool wakes) : account_(&account), wakes_(wakes) {}

    Account* account_;
    bool wakes_;
  };

  Account(std::string id, const Clock& host, AccountClock::Anchor anchor, const AccountWaker& reaper_waker)
      : id_(std::move(id)),
        reaper_waker_(reaper_waker),
        clock_(host, anchor),
        timers_([this] { reaper_waker_.wake(*this); }) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] AccountClock& clock() { return clock_; }
  [[nodiscard]] const AccountClock& clock() const { return clock_; }
  [[nodiscard]] TimerQueue& timers() { return timers_; }

  // The analysis is disabled because it cannot follow the lock into the Turn that these functions return.
  [[nodiscard]] Turn take_turn() NO_THREAD_SAFETY_ANALYSIS {
    turn_.lock();
    return {*this, /*wakes=*/true};
  }
  // Returns nullopt if another thread holds the turn.
  [[nodiscard]] std::optional<Turn> try_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/true)) : std::nullopt;
  }
  // Does the same for the reaper: the end of this turn does not wake the reaper.
  [[nodiscard]] std::optional<Turn> try_reapers_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/false)) : std::nullopt;
  }

  [[nodiscard]] Instant now() const { return clock_.now(); }
  // The time by which streams age (see stream_time.h).
  [[nodiscard]] Instant stream_now() const { return stream_time_of(clock_.now()); }
  [[nodiscard]] Instant stream_time_of(Instant instant) const;
  [[nodiscard]] Instant instant_of_stream_time(Instant stream_time) const;
  void jumped(Instant from, Instant to);
  // A timeline of the account's clock. A restore, a reset and moving the clock back each begin a new
  // timeline; facts gathered in one timeline do not hold in another.
  using Timeline = std::uint64_t;
  [[nodiscard]] Timeline timeline() const;
  // Does nothing if `timeline` is not the current timeline.
  void forget_jumps_before(Instant instant, Timeline timeline);

  // Every request holds this gate in shared mode while it is served, and so does every background step that
  // uses cached data of the account. A restore or a reset holds it in exclusive mode until every component
  // that caches data of the account has been notified, so that storage and caches change at the same instant.
  // The gate is taken after the turn and before any table's gate. Background steps only try to take the gate,
  // and are woken when the restore or the reset is over.
  [[nodiscard]] Gate& requests() { return requests_; }
  // The caller holds the returned lock while it serves a request. A restore or a reset of the account
  // therefore happens before or after the request, never during it.
  [[nodiscard]] std::shared_lock<Gate> begin_request() { return std::shared_lock(requests_); }

  // What writers need to know about the latest snapshot (before_images.h).
  [[nodiscard]] ImageKeeper image_keeper() const;
  // Requires: no thread writes to a table that the snapshot contains.
  void keep_images(ImageKeeper keeper);

  // The account's clock and jumps, encoded as in storage and in snapshots.
  [[nodiscard]] std::string bytes() const;
  // The bytes() that the account will have after a change (see Accounts::save).
  [[nodiscard]] std::string bytes_at(const AccountClock::Anchor& anchor,
                                     std::optional<Instant> jumped_from) const;
  // The bytes() of an account whose clock starts over.
  static std::string first_bytes(const AccountClock::Anchor& anchor);
  // The time that the clock of an account with these bytes would show; nullopt if the bytes are malformed.
  static std::optional<Instant> now_in(std::string_view bytes, const Clock& host);
  void resume(std::string_view bytes);                 // after a restart, as if the clock had kept running
  void rewind(std::string_view bytes);                 // for a restore: time continues from the snapshot
  void begin_anew(ClockSetting setting, Instant now);  // also forgets all jumps

 private:
  const std::string id_;
  const AccountWaker& reaper_waker_;
  AccountClock clock_;
  TimerQueue timers_;
  Mutex turn_;
  Gate requests_;
  mutable Mutex mutex_;  // held for a few instructions
  StreamTime stream_time_ GUARDED_BY(mutex_);
  Timeline timeline_ GUARDED_BY(mutex_) = 0;
  ImageKeeper image_keeper_ GUARDED_BY(mutex_);
};

// Orders accounts by id, not by address, so that runs with the same seed are identical.
struct AccountOrder {
  bool operator()(const Account* a, const Account* b) const { return a->id() < b->id(); }
};

// How the clocks of new accounts start.
struct ClockDefaults {
  ClockSetting setting;
  std::optional<Instant> now;  // nullopt: the host's time
};

class Accounts {
 public:
  // Requires: `host` and `storage` outlive this object.
  Accounts(Storage& storage, const Clock& host, ClockDefaults defaults);

  Account& of(std::string_view id);
  [[nodiscard]] std::vector<Account*> all() const;
  [[nodiscard]] std::vector<std::string> ids() const;  // of all accounts, sorted

  void stage_rewinding(Batch& batch, const Account& account, std::string_view bytes) const;
  void stage_forgetting(Batch& batch, const Account& account) const;
  // Stores the account as it will be once its clock runs by `setting` from `now` on and, if `jumped_from` is
  // given, has jumped from there to `now`. Callers save before they change the clock, so that, even after a
  // restart, the clock never shows an earlier time than clients have already seen.
  void save(const Account& account, ClockSetting setting, Instant now, std::optional<Instant> jumped_from);
  // Does the same for a clock that starts over.
  void save_anew(const Account& account, ClockSetting setting, Instant now);
  // Called before the account's first table is created. Stores the account's clock, unless the clock follows
  // the host's clock or is stored already. Without this, the clock would start over after a restart and would
  // show times before those of earlier events.
  void save_first(const Account& account);
  void begin_anew(Account& account) const;
  [[nodiscard]] const Clock& host() const { return host_; }

  // Wakes the reaper when a timer that fires before all other timers of its account is set, or when an
  // account's turn ends.
  [[nodiscard]] AccountWaker& reaper_waker() { return reaper_waker_; }

 private:
  [[nodiscard]] AccountClock::Anchor initial_anchor() const;
  void store(const Account& account, const std::string& bytes) REQUIRES(saving_);

  Storage& storage_;
  const Clock& host_;
  const ClockDefaults defaults_;
  AccountWaker reaper_waker_;
  Mutex saving_;               // serializes writes of clocks
  mutable SharedMutex mutex_;  // held for a few instructions
  std::map<std::string, std::unique_ptr<Account>, std::less<>> accounts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
