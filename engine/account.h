// An account is a world: its own tables and streams (catalog.h), its own clock, its own timers.
//
//   Account& account = accounts.of("000000000042");     // made when it is first named, and never goes away
//   account.clock().now();
//
// It is kept in storage, so that time goes on after a restart: a frozen clock stands where it stood, any
// other has run on meanwhile.
//
//   'C' account -> mode:u8 rate:f64le host:i64le here:i64le jumps   AccountClock::Anchor, StreamTime's
//
// Thread-safe.
#pragma once

#include <cstdint>
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

class Account;
class Batch;
class Storage;

// Wakes a task for one account, once somebody has said which task. `set` comes before whatever may wake.
class AccountWaker {
 public:
  void set(std::function<void(Account&)> wake) { wake_ = std::move(wake); }
  void wake(Account& account) const {
    if (wake_) wake_(account);
  }

 private:
  std::function<void(Account&)> wake_;
};

// How many items were deleted, by their table's name.
using Deletions = std::map<std::string, std::int64_t, std::less<>>;

class Account {
 public:
  // The right to sweep, to move the clock and to replace the tables. It has one holder at a time and is taken
  // before any table's gate. Functions that need it take it as an argument. The reaper leaves an account
  // alone while somebody else has its turn; so the end of a turn wakes the reaper, once the turn is free
  // again, and nothing that fell due meanwhile is overlooked.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : account_(std::exchange(other.account_, nullptr)), wakes_(other.wakes_) {}
    Turn& operator=(Turn&&) = delete;
    // It may have moved: of whom it is, only its value says.
    ~Turn() NO_THREAD_SAFETY_ANALYSIS {
      if (account_ == nullptr) return;
      account_->turn_.unlock();
      if (wakes_) account_->reaper_.wake(*account_);
    }
    [[nodiscard]] Account& account() const { return *account_; }

   private:
    friend class Account;
    Turn(Account& account, bool wakes) : account_(&account), wakes_(wakes) {}

    Account* account_;
    bool wakes_;
  };

  Account(std::string id, const Clock& host, AccountClock::Anchor anchor, const AccountWaker& reaper)
      : id_(std::move(id)), reaper_(reaper), clock_(host, anchor), timers_([this] { reaper_.wake(*this); }) {}
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
  // Nothing: somebody else has the turn.
  [[nodiscard]] std::optional<Turn> try_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/true)) : std::nullopt;
  }
  // The same for the reaper, which the end of its own turn does not wake.
  [[nodiscard]] std::optional<Turn> try_reapers_turn() NO_THREAD_SAFETY_ANALYSIS {
    return turn_.try_lock() ? std::optional(Turn(*this, /*wakes=*/false)) : std::nullopt;
  }

  // The time by which streams age: stream_time.h.
  [[nodiscard]] Instant stream_now() const { return stream_time_of(clock_.now()); }
  [[nodiscard]] Instant stream_time_of(Instant instant) const;
  [[nodiscard]] Instant instant_of_stream_time(Instant stream_time) const;
  void jumped(Instant from, Instant to);
  // What was found out in one timeline says nothing of another: a restore, a reset and a move back begin one.
  using Timeline = std::uint64_t;
  [[nodiscard]] Timeline timeline() const;
  // Nothing, if that timeline is over.
  void forget_jumps_before(Instant instant, Timeline timeline);

  // Every request holds it shared while it is answered, and so does every background step that acts on what
  // it knows of the account. A restore or a reset holds it alone until all who keep something of the account
  // in memory have been told: so the replacement is one instant for both. It is taken after the turn and
  // before any table's gate. Background steps only try to take it, and are woken when the replacement is
  // over.
  [[nodiscard]] Gate& requests() { return requests_; }

  // What writers have to know of the latest snapshot (before_images.h).
  [[nodiscard]] ImageKeeper image_keeper() const;
  // Requires: nobody writes to a table that the snapshot has.
  void keep_images(ImageKeeper keeper);

  // What storage and snapshots keep of an account.
  [[nodiscard]] std::string bytes() const;
  // As they will be: Accounts::save.
  [[nodiscard]] std::string bytes_at(const AccountClock::Anchor& anchor,
                                     std::optional<Instant> jumped_from) const;
  // Of an account whose clock begins anew.
  static std::string first_bytes(const AccountClock::Anchor& anchor);
  // What the clock of an account with these bytes would say; nothing: they are not bytes()'s.
  static std::optional<Instant> now_in(std::string_view bytes, const Clock& host);
  void resume(std::string_view bytes);                 // after a restart: time has run on since
  void rewind(std::string_view bytes);                 // to a snapshot: time goes on from there
  void begin_anew(ClockSetting setting, Instant now);  // nothing was ever jumped over

 private:
  const std::string id_;
  const AccountWaker& reaper_;
  AccountClock clock_;
  TimerQueue timers_;
  Mutex turn_;
  Gate requests_;
  mutable Mutex mutex_;  // for a few instructions
  StreamTime stream_time_ GUARDED_BY(mutex_);
  Timeline timeline_ GUARDED_BY(mutex_) = 0;
  ImageKeeper image_keeper_ GUARDED_BY(mutex_);
};

// By id: nothing that a seed repeats may be ordered by addresses.
struct AccountOrder {
  bool operator()(const Account* a, const Account* b) const { return a->id() < b->id(); }
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

  void stage_rewinding(Batch& batch, const Account& account, std::string_view bytes) const;
  void stage_forgetting(Batch& batch, const Account& account) const;
  // Stores the account as it will be when its clock says `now`, and goes on from there so; and when it has
  // jumped there, if it does. A clock that was seen must not go back after a restart: so this comes first.
  void save(const Account& account, ClockSetting setting, Instant now, std::optional<Instant> jumped_from);
  // The same of a clock that begins anew.
  void save_anew(const Account& account, ClockSetting setting, Instant now);
  // Before the account's first table: a clock that goes its own way is stored if it was not yet, or it would
  // begin once more after a restart, before what happened by it.
  void save_first(const Account& account);
  void begin_anew(Account& account) const;
  [[nodiscard]] const Clock& host() const { return host_; }

  // Woken when a timer of any account fires earlier than before, or an account's turn ended.
  [[nodiscard]] AccountWaker& reaper() { return reaper_; }

 private:
  [[nodiscard]] AccountClock::Anchor initial_anchor() const;
  void store(const Account& account, const std::string& bytes) REQUIRES(saving_);

  Storage& storage_;
  const Clock& host_;
  const ClockDefaults defaults_;
  AccountWaker reaper_;
  Mutex saving_;               // one who stores a clock at a time
  mutable SharedMutex mutex_;  // for a few instructions
  std::map<std::string, std::unique_ptr<Account>, std::less<>> accounts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
