// An account is a world: its own tables and streams (catalog.h), its own clock, its own timers.
//
//   Account& account = accounts.of("000000000042");     // made when it is first named, and never goes away
//   account.clock().now();
//
// Kept in storage, so that time goes on after a restart: a frozen clock stays, another has run on meanwhile.
//
//   'C' account -> mode:u8 rate:f64le host:i64le here:i64le jumps   AccountClock::Anchor, StreamTime's
//
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/before_images.h"
#include "engine/clock.h"
#include "engine/gate.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"
#include "engine/stream_time.h"
#include "engine/timer_queue.h"

namespace mayfly::engine {

class Batch;
class Storage;

// How many items were deleted, by their table's name.
using Deletions = std::map<std::string, std::int64_t, std::less<>>;

class Account {
 public:
  // The right to sweep, to move the clock and to replace the tables: one holder at a time; taken before any
  // table's gate. What needs it asks for it as an argument. The reaper leaves an account alone whose turn is
  // taken; so its end wakes the reaper, after the turn is free again: nothing that fell due meanwhile
  // is overlooked.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : account_(std::exchange(other.account_, nullptr)), wakes_(other.wakes_) {}
    Turn& operator=(Turn&&) = delete;
    // It may have moved: of whom it is, only its value says.
    ~Turn() NO_THREAD_SAFETY_ANALYSIS {
      if (account_ == nullptr) return;
      account_->turn_.unlock();
      if (wakes_) account_->reaper_.wake();
    }
    [[nodiscard]] Account& account() const { return *account_; }

   private:
    friend class Account;
    Turn(Account& account, bool wakes) : account_(&account), wakes_(wakes) {}

    Account* account_;
    bool wakes_;
  };

  Account(std::string id, const Clock& host, AccountClock::Anchor anchor, const Waker& reaper)
      : id_(std::move(id)), reaper_(reaper), clock_(host, anchor), timers_(reaper) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] AccountClock& clock() { return clock_; }
  [[nodiscard]] const AccountClock& clock() const { return clock_; }
  [[nodiscard]] TimerQueue& timers() { return timers_; }

  // The lock goes into what they return, which the analysis does not follow.
  [[nodiscard]] Turn take_turn() NO_THREAD_SAFETY_ANALYSIS {
    turn_.lock();
    return {*this, /*wakes=*/true};
  }
  // Nothing: somebody else has it.
  [[nodiscard]] std::optional<Turn> try_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/true)) : std::nullopt;
  }
  // For the reaper itself, which does not wake itself. Nothing: somebody else has it.
  [[nodiscard]] std::optional<Turn> try_reapers_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/false)) : std::nullopt;
  }

  // The time by which streams age: stream_time.h.
  [[nodiscard]] Instant stream_now() const { return stream_time_of(clock_.now()); }
  [[nodiscard]] Instant stream_time_of(Instant instant) const;
  [[nodiscard]] Instant instant_of_stream_time(Instant stream_time) const;
  void jumped(Instant from, Instant to);
  void forget_jumps_before(Instant instant);

  // Held shared by each request while it is answered, and alone by who replaces the account's state: so for
  // every request that is one instant. Taken after the turn and before any table's gate.
  [[nodiscard]] Gate& requests() { return requests_; }

  // The latest snapshot: before_images.h. Changes while nobody writes to a table that the snapshot has.
  [[nodiscard]] ImageKeeper image_keeper() const;
  void keep_images(ImageKeeper keeper);

  // What is kept of an account, and its return to what was kept: time has run on since, or goes on from
  // there.
  [[nodiscard]] std::string bytes() const;
  void resume(std::string_view bytes);
  void rewind(std::string_view bytes);
  void begin_anew(ClockSetting setting, Instant now);  // nothing was ever jumped over

 private:
  const std::string id_;
  const Waker& reaper_;
  AccountClock clock_;
  TimerQueue timers_;
  Mutex turn_;
  Gate requests_;
  mutable Mutex mutex_;  // for a few instructions
  StreamTime stream_time_ GUARDED_BY(mutex_);
  ImageKeeper image_keeper_ GUARDED_BY(mutex_);
};

// How the clocks of accounts that were never seen begin.
struct ClockDefaults {
  ClockSetting setting;
  std::optional<Instant> now;  // nothing: the host's
};

class Accounts {
 public:
  // `host` and `storage` outlive it.
  Accounts(Storage& storage, const Clock& host, ClockDefaults defaults);

  Account& of(std::string_view id);
  [[nodiscard]] std::vector<Account*> all() const;

  void stage(Batch& batch, const Account& account) const;
  void stage_rewinding(Batch& batch, const Account& account, std::string_view bytes) const;
  void stage_forgetting(Batch& batch, const Account& account) const;
  void save(const Account& account);
  void begin_anew(Account& account) const;
  [[nodiscard]] const Clock& host() const { return host_; }

  // Woken when a timer of any account fires earlier than before, or an account's turn ended.
  [[nodiscard]] Waker& reaper() { return reaper_; }

 private:
  [[nodiscard]] AccountClock::Anchor initial_anchor() const;

  Storage& storage_;
  const Clock& host_;
  const ClockDefaults defaults_;
  Waker reaper_;
  mutable SharedMutex mutex_;  // for a few instructions
  std::map<std::string, std::unique_ptr<Account>, std::less<>> accounts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
