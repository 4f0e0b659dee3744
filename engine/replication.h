// Brings the writes of a global table's tables to their replicas, and the items to a replica that is new.
//
// A write departs with its own commit (replica_log.h): what is on its way lies in storage, in the order of
// the writes, once for each replica. Here a task takes it from there, as soon as the way from region to
// region is open and its lag over, and has a Transaction write it; with that commit the departure is gone. So
// a write arrives once, whoever crashes, and no queue in memory grows. An item's writes arrive in their
// order; of two regions' the later one stays, wherever it arrives first. What a transaction wrote together
// arrives apart.
//
// A lag is by the account's clock, as all is that DynamoDB would time: on a frozen clock nothing arrives that
// has a lag, until the clock is moved. Lags and pauses are the account's state: snapshots keep them, and what
// is on its way, and a restore brings both back.
//
//   replication.set_way("000000000000", {"us-east-1", "eu-west-1"}, {.paused = true});
//   replication.settle(account, stop);               // all that may arrive by now has
//
// A caller that waits for replicas takes the steps itself: a task's step and a settling exclude each other.
//
// What is known of an account's ways and flows is used only while nobody can replace the account: in a
// background step under its requests (account.h), in a settling under its turn or its requests.
//
// Thread-safe. Locks: `moving_` is taken after an account's turn and requests, before any table's gate. A
// step of the task, which holds `moving_`, only tries to take an account's requests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/account.h"
#include "engine/agenda.h"
#include "engine/catalog.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"
#include "engine/table.h"

namespace mayfly::engine {

class Database;

// From one region of an account to another.
struct Way {
  std::string from, to;
  friend auto operator<=>(const Way&, const Way&) = default;
};
struct WaySetting {
  bool paused = false;
  Instant lag_ms = 0;
  friend bool operator==(const WaySetting&, const WaySetting&) = default;
};

// What one table has on its way to one replica.
struct OnTheWay {
  // More are not counted.
  static constexpr std::int64_t counted_max = 100'000;

  std::string account, table;
  Way way;
  std::int64_t writes = 0;
  std::optional<Instant> oldest;  // when that was written, by the account's clock
};

class Replication {
 public:
  // Settings of so many ways an account may have.
  static constexpr std::size_t ways_max = 1'000;

  Replication(Database& database, std::shared_ptr<Scheduler> scheduler);
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  // From now on writes arrive by themselves; else only settle() brings them. Steps end with the scheduler.
  void start();
  // The account may have something to bring: a write departed, a lag or a pause ended.
  void wake(Account& account);
  // For tests: how many accounts its rounds have looked at.
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }
  // Tables of the account have other replicas now.
  void members_changed(Account& account);
  // A restore or a reset has replaced the account's state. Requires: the caller holds its requests alone.
  void replaced(Account& account);

  // False: the account has as many as it may.
  [[nodiscard]] bool set_way(std::string_view account, const Way& way, const WaySetting& setting);
  [[nodiscard]] WaySetting way(std::string_view account, const Way& way) const;
  [[nodiscard]] std::map<Way, WaySetting> ways(std::string_view account) const;  // that are not as all begin
  [[nodiscard]] std::vector<OnTheWay> on_the_way(std::string_view account) const;
  [[nodiscard]] std::vector<OnTheWay> on_the_way() const;
  // Whether one table has anything on its way to another; counts nothing.
  [[nodiscard]] bool is_on_the_way(TableId from, TableId to) const;

  // Brings what has been written by now and may arrive, and copies the items of new replicas. Ends early if
  // `stop` is requested. Requires: the caller holds the account's turn or its requests.
  void settle(Account& account, const std::stop_token& stop = {});
  // A slice of that, of what was written until `upto`. False: it was the last.
  [[nodiscard]] bool settle_some(Account& account, Sequence upto);
  // Copies items to a replica that is new, at most so many now. Requires: as settle().
  void copy_some(const std::shared_ptr<LiveTable>& table, std::size_t items_max);

 private:
  class Rounds;
  // The writes of one table on their way to another.
  struct Flow {
    TableId from, to;
    Way way;
    Sequence first = 0;     // those before it have arrived
    std::string copied_to;  // a new replica has the items before this key
    bool items_copied = false;
  };
  struct Flows {
    Account* account;
    std::vector<Flow> all;
    std::set<TableId> forgetting;  // tables that may have tombstones to forget
  };
  enum class Progress : std::uint8_t { more, waits, done };
  struct Step {
    Progress progress = Progress::done;
    std::optional<std::chrono::nanoseconds> pause;  // of one that waits; nothing: until somebody wakes it
    std::size_t items = 0;
  };

  // Of an account whose tables have other replicas since the last time, they begin anew.
  Flows& flows_of(Account& account) REQUIRES(moving_);
  [[nodiscard]] bool is_stale(Account& account) const;
  void look(Flow& flow) const REQUIRES(moving_);  // for the first that has not arrived
  Step move(Account& account, Flow& flow, Sequence upto, std::size_t items_max) REQUIRES(moving_);
  Step copy(Account& account, Flow& flow, std::size_t items_max) REQUIRES(moving_);
  bool copy_items(Flow& flow, const std::shared_ptr<LiveTable>& to, std::size_t items) REQUIRES(moving_);
  void finish_copy(const Flow& flow, const std::shared_ptr<LiveTable>& to) REQUIRES(moving_);
  // Forgets some tombstones that nothing older can meet any more; false: there are more.
  bool forget_tombstones(Flows& flows, TableId table) REQUIRES(moving_);
  // A little of each of the account's flows.
  void round(Account& account) REQUIRES(moving_);
  [[nodiscard]] std::vector<OnTheWay> counted(std::string_view account) const;
  void load(std::string_view account);
  void look_again(Account& account, std::chrono::nanoseconds pause);

  Database& database_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // from start() on
  Mutex moving_;
  std::map<Account*, Flows, AccountOrder> flows_ GUARDED_BY(moving_);
  Agenda agenda_;        // accounts that may have something to bring
  mutable Mutex mutex_;  // for a few instructions
  // Accounts whose flows are not those of the tables that there are, and the number of the last change.
  std::map<Account*, std::uint64_t, AccountOrder> stale_ GUARDED_BY(mutex_);
  std::uint64_t last_change_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::map<Way, WaySetting>, std::less<>> ways_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
