// Replicates the writes of global tables to their replicas, and copies the items to new replicas.
//
// The commit of a write also stores one departure for each replica (replica_log.h). Writes in flight are
// therefore in storage, in the order in which they were made. A background task takes a departure as soon as
// the route to the replica's region is not paused and the lag of that route has passed. A Transaction then
// applies the write and erases the departure in one commit. So each write arrives exactly once, even after a
// crash, and no queue grows in memory.
//
// Order: the writes that one region makes to an item arrive in the order in which they were made. If two
// regions write to the same item, the later write wins, whichever arrives first. The writes of one
// transaction can arrive at different times.
//
// A lag is measured by the account's clock, like all other durations in DynamoDB: on a frozen clock, a write
// with a lag arrives only when the clock is moved. Lags and pauses are part of the account's state. Snapshots
// also include the writes in flight. A restore brings back lags, pauses and writes in flight.
//
//   replication.set_route("000000000000", {"us-east-1", "eu-west-1"}, {.paused = true});
//   replication.settle(account, stop);               // every write that can arrive by now has arrived
//
// A caller that waits for replicas calls settle(), which replicates the writes on the caller's thread. Calls
// to settle() and steps of the background task never run at the same time.
//
// An account's routes and flows are used only while no other thread can replace the account: a background
// step holds the account's requests (account.h), and a caller of settle() holds the account's turn or its
// requests.
//
// Thread-safe. Locks: `moving_` is taken after an account's turn and requests, and before any table's gate. A
// background step, which already holds `moving_`, does not wait for an account's requests: if it cannot take
// them, it skips the account.
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
  // The maximum value of `writes`; further writes are not counted.
  static constexpr std::int64_t counted_max = 100'000;

  std::string account, table;
  Route route;
  std::int64_t writes = 0;
  std::optional<Instant> oldest;  // when the oldest write was made, by the account's clock
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

  // Starts replication in the background. Before this call, only settle() replicates writes. Background steps
  // end when the scheduler ends.
  void start();
  // Must be called when the account may have writes to replicate, that is, after a commit has stored
  // departures or after a lag or a pause has ended.
  void wake(Account& account);
  // For tests: the number of times that the background task has examined an account.
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
      std::string_view account) const;  // omits default settings
  [[nodiscard]] std::vector<InFlight> in_flight(std::string_view account) const;
  [[nodiscard]] std::vector<InFlight> in_flight() const;
  // Whether any write is in flight from one table to another. Faster than in_flight().
  [[nodiscard]] bool is_in_flight(TableId from, TableId to) const;

  // Replicates all writes made so far that can arrive by now, and copies the items to new replicas. Ends
  // early if `stop` is requested.
  // Requires: the caller holds the account's turn or its requests.
  void settle(Account& account, const std::stop_token& stop = {});
  // Does the same for a caller that holds neither the account's turn nor its requests. Holds the account's
  // requests for one slice of work at a time, so that other requests can run between slices.
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
    Sequence first = 0;  // all earlier writes have arrived
    // The progress of a copy, which copies all items and then all tombstones: the keys before `copied_to`
    // have been copied.
    std::string copied_to;
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
    std::optional<std::chrono::nanoseconds> pause;  // how long `waits` lasts; nullopt: until wake()
    std::size_t items = 0;
  };

  // Runs one slice of settle(), for writes up to `upto`. Returns false if it was the last slice.
  [[nodiscard]] bool settle_some(Account& account, Sequence upto);
  // The account's flows. They are rebuilt if replicas have changed since the last call.
  Flows& flows_of(Account& account) REQUIRES(moving_);
  [[nodiscard]] bool is_stale(Account& account) const;
  void look(Flow& flow) const REQUIRES(moving_);  // finds the first write that has not arrived
  Step move(Account& account, Flow& flow, Sequence upto, std::size_t items_max) REQUIRES(moving_);
  Step copy(Account& account, Flow& flow, std::size_t items_max) REQUIRES(moving_);
  bool copy_items(Flow& flow, const std::shared_ptr<LiveTable>& to, std::size_t items) REQUIRES(moving_);
  void finish_copy(const Flow& flow, const std::shared_ptr<LiveTable>& to) REQUIRES(moving_);
  // Erases some tombstones that are no longer needed because no older write can still arrive. Returns false
  // if more tombstones may follow.
  bool forget_tombstones(Flows& flows, TableId table) REQUIRES(moving_);
  // Runs one slice of each flow of the account.
  void round(Account& account) REQUIRES(moving_);
  [[nodiscard]] std::vector<InFlight> counted(std::string_view account) const;
  void load(std::string_view account);
  void look_again(Account& account, std::chrono::nanoseconds pause);

  const Uses uses_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // set by start()
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
