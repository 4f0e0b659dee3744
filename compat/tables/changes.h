// Tracks tables that clients still see as CREATING, UPDATING or DELETING.
//
// The engine performs each change immediately, before the request that asks for it returns. If a delay is
// set, this class remembers, for that length of real time, the state that the request announced. Until the
// delay has passed, DescribeTable keeps reporting the announced state, and lookup.h rejects the requests that
// AWS rejects in that state. Data of a table that is DELETING is therefore already gone, even after a crash;
// only the table's name and description remain.
//
// No thread waits, and nothing runs when a delay ends: a finished change is simply no longer found.
//
//   changes.begin(scope, {TableStatus::creating, table->description()});
//   changes.find(scope, "carts");                 // what was announced; nullopt: the table has settled
//
// A table that gets an index goes through two phases. In the first, the table is UPDATING and the index
// CREATING. In the second, which lasts as long as the first, the table is ACTIVE again while its index is
// backfilled.
//
// A table that is being restored is CREATING until settle() is called for it, with or without a delay.
//
// Thread-safe. The class stores nothing if there is no delay and no table is being restored.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

// The status of a table as reported to clients. AWS creates and changes tables in the background.
enum class TableStatus { creating, updating, deleting, active };

// The status of individual global or vector indexes, by name: "UPDATING", "DELETING".
using IndexStatuses = std::map<std::string, std::string_view>;
inline constexpr std::string_view index_is_creating = "CREATING";

// DescribeTable's RestoreSummary.
struct RestoreSummary {
  std::string backup_arn;  // empty: restored to a point in time
  std::string table_arn;
  engine::Instant at = 0;
};

// The part of a table's description that only a global table has.
struct GlobalTable {
  struct Replica {
    std::string region;
    TableStatus status;
    std::shared_ptr<const engine::Table> shown;
  };
  std::vector<Replica> replicas;  // in the other regions, oldest first
  bool strong = false;
  std::string witness;  // the witness's region; empty: no witness
};

struct TableChange {
  TableStatus status;
  std::shared_ptr<const engine::Table> shown;
  IndexStatuses index_statuses = {};
  std::set<std::string, std::less<>> backfilling = {};  // CREATING indexes in their second phase
  std::set<std::string_view> changing = {};             // settings that are UPDATING: "SSESpecification"
  std::set<std::string, std::less<>> warming = {};      // indexes whose WarmThroughput is UPDATING
  std::optional<RestoreSummary> restore = {};           // for a table that a restore is creating
  std::optional<GlobalTable> global = {};               // nullopt: no replicas
};

class TableChanges {
 public:
  using HostTime = std::chrono::system_clock::time_point;
  using HostClock = std::function<HostTime()>;

  explicit TableChanges(std::chrono::milliseconds delay, HostClock host_clock = &engine::host_time)
      : delay_(delay), host_clock_(std::move(host_clock)) {}

  void begin(const engine::Scope& scope, TableChange change);
  // Like hold, but only if nothing is announced for the name. If two requests create a table of the same
  // name, exactly one of the calls succeeds; the other call returns false.
  [[nodiscard]] bool try_hold(const engine::Scope& scope, TableChange change);
  // Announces the change until it is settled. Replaces an earlier announcement for the table's name.
  void hold(const engine::Scope& scope, TableChange change);
  // Ends a held change as soon as its delay, which began with hold() or try_hold(), has elapsed.
  void settle(const engine::Scope& scope, std::string_view table_name);
  // Ends any change immediately.
  void drop(const engine::Scope& scope, std::string_view table_name);
  // Drops the account's changes, because its tables were replaced. Held changes stay.
  void settle_all(std::string_view account);
  // A restore whose table is still CREATING. restoring() covers all regions of the account.
  struct Restoring {
    engine::Scope scope;
    std::string table_name;
    RestoreSummary summary;
  };
  [[nodiscard]] std::vector<Restoring> restoring(std::string_view account) const;
  [[nodiscard]] std::optional<TableChange> find(const engine::Scope& scope,
                                                std::string_view table_name) const;
  // Returns nullopt while the indexes are backfilled: the table can then be used and changed as usual, except
  // that it cannot be deleted.
  [[nodiscard]] std::optional<TableStatus> status(const engine::Scope& scope,
                                                  std::string_view table_name) const;
  // Returns the names of the DELETING tables after `start_after`, sorted.
  [[nodiscard]] std::vector<std::string> deleting(const engine::Scope& scope,
                                                  std::string_view start_after) const;

 private:
  struct Backfill {
    HostTime from, until;
  };
  struct Pending {
    TableChange change;
    HostTime end;
    bool held = false;                               // until settled; `end` is then the earliest possible end
    std::map<std::string, Backfill> backfills = {};  // by index name
    [[nodiscard]] bool over(HostTime now) const {
      return !held && end <= now && std::all_of(backfills.begin(), backfills.end(), [&](const auto& index) {
        return index.second.until <= now;
      });
    }
  };
  [[nodiscard]] bool empty() const { return delay_.count() <= 0 && held_.load() == 0; }
  void hold_pending(const engine::Scope& scope, TableChange change, HostTime now) REQUIRES(mutex_);
  void forget_what_is_over(HostTime now) REQUIRES(mutex_);

  const std::chrono::milliseconds delay_;
  const HostClock host_clock_;
  std::atomic<std::size_t> held_{0};  // number of held entries in pending_
  mutable engine::Mutex mutex_;
  std::map<engine::Scope, std::map<std::string, Pending, std::less<>>> pending_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
