// Replicates the writes of global tables to their replicas, and copies the items to new replicas.
//
// The commit of a write also stores one departure for each replica (replica_log.h). Writes in flight are
// therefore in storage, in the order of the writes. A task takes a departure once the route between the two
// regions is not paused and the lag has passed. A Transaction then applies the write and erases the departure
// in one commit. So each write arrives exactly once, even after a crash, and no queue grows in memory.
//
// Order: the writes to an item in one region arrive in their order. If two regions write to an item, the
// later write wins, whatever the order of arrival. The writes of one transaction can arrive separately.
//
// A lag is measured by the account's clock, like every duration of DynamoDB: on a frozen clock, a write with
// a lag arrives only when the clock is moved. Lags and pauses are part of the account's state. Snapshots
// include them and the writes in flight, and a restore brings both back.
//
//   replication.set_route("000000000000", {"us-east-1", "eu-west-1"}, {.paused = true});
//   replication.settle(account, stop);               // every write that can arrive by now has arrived
//
// A caller that waits for replicas runs the steps itself. A step of the task and settling exclude each other.
//
// An account's routes and flows are used only while no other thread can replace the account: a background
// step holds the account's requests (account.h), and settling holds its turn or its requests.
//
// Thread-safe. Locks: `moving_` is taken after an account's turn and requests, and before any table's gate. A
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

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"
#include "engine/time/agenda.h"

namespace mayfly::engine {

class Documents;
class RecentWrites;
class Storage;
class StreamTrimmer;
class Watermark;
struct WritePath;

// The direction of replication from one region of an account to another.
struct Route {
  std::string from, to;
  friend auto operator<=>(const Route&, const Route&) = default;
};
struct RouteSetting {
  bool paused = false;
  Instant lag_ms = 0;
  friend bool operator==(const RouteSetting&, const RouteSetting&) = default;
};

// The writes in flight from one table to one replica.
struct InFlight {
  // Further writes are not counted.
  static constexpr std::int64_t counted_max = 100'000;

  std::string account, table;
  Route route;
  std::int64_t writes = 0;
  std::optional<Instant> oldest;  // when the oldest of them was written, by the account's clock
};

class Replication {
 public:
  // The maximum number of routes with settings, per account.
  static constexpr std::size_t routes_max = 1'000;

  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Accounts& accounts;
    Catalog& catalog;
    const Storage& storage;
    const Watermark& watermark;
    Documents& documents;
    RecentWrites& recent_writes;
    StreamTrimmer& stream_trimmer;
    const WritePath& path;
  };

  Replication(const Uses& uses, std::shared_ptr<Scheduler> scheduler);
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  // Starts replication in the background. Without it, only settle() replicates writes. Steps end with the
  // scheduler.
  void start();
  // Must be called when the account may have writes to replicate: writes were sent, or a lag or a pause
  // has ended.
  void wake(Account& account);
  // For tests: the number of accounts that its rounds have looked at.
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }
  // Must be called after the replicas of a table of the account have changed.
  void members_changed(Account& account);
  // Must be called after a restore or a reset has replaced the account's state.
  // Requires: the caller holds the account's requests exclusively.
  void replaced(Account& account);

  // Returns false if the account already has settings for `routes_max` routes.
  [[nodiscard]] bool set_route(std::string_view account, const Route& route, const RouteSetting& setting);
  [[nodiscard]] RouteSetting route(std::string_view account, const Route& route) const;
  [[nodiscard]] std::map<Route, RouteSetting> routes(
      std::string_view account) const;  // without default settings
  [[nodiscard]] std::vector<InFlight> in_flight(std::string_view account) const;
  [[nodiscard]] std::vector<InFlight> in_flight() const;
  // Whether any write is in flight from one table to another. Faster than counting them.
  [[nodiscard]] bool is_in_flight(TableId from, TableId to) const;

  // Replicates all writes made so far that can arrive by now, and copies the items to new replicas. Ends
  // early if `stop` is requested.
  // Requires: the caller holds the account's turn or its requests.
  void settle(Account& account, const std::stop_token& stop = {});
  // Does the same for a caller that holds neither: holds the account's requests for one slice at a time, so
  // that other requests can go in between.
  void settle_in_slices(std::string_view account, const std::stop_token& stop = {});
  // Copies about `items_max` items to a new replica from each of its sources.
  // Requires: the caller holds the account's turn or its requests.
  void copy_some(const std::shared_ptr<LiveTable>& table, std::size_t items_max);

 private:
  class Rounds;
  // The writes in flight from one table to another.
  struct Flow {
    TableId from, to;
    Route route;
    Sequence first = 0;     // earlier writes have arrived
    std::string copied_to;  // progress of a copy: items, then tombstones, before this key are copied
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
    std::optional<std::chrono::nanoseconds> pause;  // for `waits`; nullopt: until wake()
    std::size_t items = 0;
  };

  // Runs a slice of settle(), for writes up to `upto`. Returns false if it was the last slice.
  [[nodiscard]] bool settle_some(Account& account, Sequence upto);
  // The account's flows. They are rebuilt if replicas have changed since the last call.
  Flows& flows_of(Account& account) REQUIRES(moving_);
  [[nodiscard]] bool is_stale(Account& account) const;
  void look(Flow& flow) const REQUIRES(moving_);  // for the first write that has not arrived
  Step move(Account& account, Flow& flow, Sequence upto, std::size_t items_max) REQUIRES(moving_);
  Step copy(Account& account, Flow& flow, std::size_t items_max) REQUIRES(moving_);
  bool copy_items(Flow& flow, const std::shared_ptr<LiveTable>& to, std::size_t items) REQUIRES(moving_);
  void finish_copy(const Flow& flow, const std::shared_ptr<LiveTable>& to) REQUIRES(moving_);
  // Erases some tombstones that no older write can still reach. Returns false if more tombstones may follow.
  bool forget_tombstones(Flows& flows, TableId table) REQUIRES(moving_);
  // Runs a slice of each of the account's flows.
  void round(Account& account) REQUIRES(moving_);
  [[nodiscard]] std::vector<InFlight> counted(std::string_view account) const;
  void load(std::string_view account);
  void look_again(Account& account, std::chrono::nanoseconds pause);

  const Uses uses_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // from start() on
  Mutex moving_;
  std::map<Account*, Flows, AccountOrder> flows_ GUARDED_BY(moving_);
  Agenda agenda_;        // accounts that may have writes to replicate
  mutable Mutex mutex_;  // held for a few instructions
  // Accounts whose flows no longer match their tables' replicas, with the number of the last change.
  std::map<Account*, std::uint64_t, AccountOrder> stale_ GUARDED_BY(mutex_);
  std::uint64_t last_change_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::map<Route, RouteSetting>, std::less<>> routes_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
