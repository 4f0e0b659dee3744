// Tables that are still being created, changed or deleted, as clients' waiters see it.
//
// The engine does all at once: a table is there, changed or gone when the request that asks for it is
// answered. With a delay this remembers, for so long of real time, what such a request announced; until then
// DescribeTable goes on saying it, and lookup.h refuses what AWS refuses meanwhile. A table that is being
// deleted is thus gone already, from a crash's point of view too, and only its name and its description
// linger.
//
// Nobody waits and nothing runs at the end: a change that is over is no longer found.
//
//   changes.begin(scope, {TableStatus::creating, table->description()});
//   changes.find(scope, "carts");                 // what was announced, or nothing: the table has settled
//
// A table that gets an index has two phases: first the table is UPDATING and the index CREATING; then, for
// the delay once more, the table is ACTIVE again while its index is backfilled.
//
// A table whose items are still being restored is CREATING for as long as that takes, with a delay and
// without, and is on its way until somebody settles it.
//
// Thread-safe. Without a delay, and while nothing is being restored, it is empty.
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

#include "engine/catalog.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::compat {

// What an answer says of a table: AWS makes and changes tables in the background.
enum class TableStatus { creating, updating, deleting, active };

// What it says of single global or vector indexes, by name: "UPDATING", "DELETING".
using IndexStatuses = std::map<std::string, std::string_view>;
inline constexpr std::string_view index_is_creating = "CREATING";

// DescribeTable's RestoreSummary.
struct RestoreSummary {
  std::string backup_arn;  // empty: it is restored to a point in time
  std::string table_arn;
  engine::Instant at = 0;
};

// What an answer says of a global table, beside what it says of the table.
struct GlobalTable {
  struct Replica {
    std::string region;
    TableStatus status;
    std::shared_ptr<const engine::Table> shown;
  };
  std::vector<Replica> replicas;  // the others, the eldest first
  bool strong = false;
  std::string witness;  // its region; empty: there is none
};

struct TableChange {
  TableStatus status;
  std::shared_ptr<const engine::Table> shown;
  IndexStatuses index_statuses = {};
  std::set<std::string, std::less<>> backfilling = {};  // indexes that are CREATING, in their second phase
  bool encrypts = false;                                // SSEDescription is UPDATING, too
  std::set<std::string, std::less<>> warms = {};        // and WarmThroughput: of indexes, of the table as ""
  std::optional<RestoreSummary> restore = {};           // of a table that is being created by a restore
  std::optional<GlobalTable> global = {};               // nothing: it has no replicas
};

class TableChanges {
 public:
  using HostTime = std::chrono::system_clock::time_point;
  using HostClock = std::function<HostTime()>;

  explicit TableChanges(std::chrono::milliseconds delay, HostClock host_clock = &engine::host_time)
      : delay_(delay), host_clock_(std::move(host_clock)) {}

  void begin(const engine::Scope& scope, TableChange change);
  // As hold, unless something is announced of the name: of two who make a table of one name, one does. False:
  // the other.
  [[nodiscard]] bool try_hold(const engine::Scope& scope, TableChange change);
  // Until it is settled. In place of what the table's name was announced as before.
  void hold(const engine::Scope& scope, TableChange change);
  // What is held ends, with the delay from its beginning.
  void settle(const engine::Scope& scope, std::string_view table_name);
  // At once, whatever it was.
  void drop(const engine::Scope& scope, std::string_view table_name);
  void settle_all(std::string_view account);  // its tables are others now; what is held stays
  // Restores whose tables are still CREATING, in all regions of the account.
  struct Restoring {
    engine::Scope scope;
    std::string table_name;
    RestoreSummary summary;
  };
  [[nodiscard]] std::vector<Restoring> restoring(std::string_view account) const;
  [[nodiscard]] std::optional<TableChange> find(const engine::Scope& scope,
                                                std::string_view table_name) const;
  // Nothing while its indexes are backfilled: then a table is used and changed as ever, but for its deletion.
  [[nodiscard]] std::optional<TableStatus> status(const engine::Scope& scope,
                                                  std::string_view table_name) const;
  // Sorted names after `start_after`.
  [[nodiscard]] std::vector<std::string> deleting(const engine::Scope& scope,
                                                  std::string_view start_after) const;

 private:
  struct Backfill {
    HostTime from, until;
  };
  struct Pending {
    TableChange change;
    HostTime end;
    bool held = false;  // until it is settled; `end` is the earliest that it may be over then
    std::map<std::string, Backfill> backfills = {};  // by the index's name
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
  std::atomic<std::size_t> held_{0};  // of pending_
  mutable engine::Mutex mutex_;
  std::map<engine::Scope, std::map<std::string, Pending, std::less<>>> pending_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
