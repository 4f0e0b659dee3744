// Restores tables from a backup or to a point in time.
//
//   TRY(const auto started, restores.start(context, std::move(table), origin));
//
// A restore first creates the table, with status CREATING and with its origin (RestoreOrigin) in the
// description. It then writes the items in key order: up to `at_once_max` of them before start() returns, the
// rest on a separate scheduler, in steps of at most that size. When all items are written, the origin is
// removed from the description and the table becomes ACTIVE. Until then, clients cannot read or write the
// table (tables/lookup.h), and the backup counts as in use.
//
// Throughout, a restore holds a point of its source (engine/background/history.h), so the restore completes
// even if the source table is deleted, the table's recovery is turned off or the backup expires.
//
// If the server stops during a restore, the restore continues at the next start. If a snapshot of the account
// contains a restore in progress, that restore continues when the snapshot is restored. Both kinds of
// restores start over with the first item and are reported to `report`. If the table is removed or replaced
// meanwhile, its restore ends.
//
// Each step counts as a request of the account (Account::begin_request), so the account is restored or reset
// only between two steps. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compat/backups/backups.h"
#include "compat/context.h"
#include "compat/settings/settings.h"
#include "compat/tables/changes.h"
#include "compat/wire/error.h"
#include "engine/base/bell.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"
#include "engine/items/history_cursor.h"

namespace mayfly::compat::backups {

inline constexpr std::size_t restores_max = 50;  // concurrent restores per account, as on AWS

class Restores {
 public:
  // `report` is called with the outcome of interrupted restores. A request restores up to `at_once_max` items
  // before it responds. Requires: all arguments outlive this object.
  Restores(engine::Database& database, Backups& backups, TableChanges& table_changes,
           std::function<void(std::string_view)> report, std::size_t at_once_max);
  ~Restores();
  Restores(const Restores&) = delete;
  Restores& operator=(const Restores&) = delete;

  // Creates the table and starts to fill it. Returns the announced description of the table, and the live
  // table, which has the table's counters. Errors, in AWS's order: BackupInUseException, TableInUseException
  // or TableAlreadyExistsException, LimitExceededException. BackupNotFoundException and
  // TableNotFoundException mean that the source has been removed meanwhile. Requires, as erase() does: the
  // account is not being replaced. This is always so within a request.
  struct Started {
    TableChange change;
    std::shared_ptr<engine::LiveTable> table;
  };
  Result<Started> start(const Context& context, engine::Table table, const RestoreOrigin& origin);

  // Erases a backup that no restore uses. Errors: BackupInUseException, BackupNotFoundException. `arn`: as
  // given in the request.
  Result<void> erase(const Backup& backup, std::string_view arn);

  // The number of background restores of all accounts, and the progress of one account's background restores.
  [[nodiscard]] std::size_t under_way() const;
  struct Progress {
    engine::Scope scope;
    std::string table_name;
    engine::Instant started = 0;
    // For a restore to a point in time, the total is the source's item count when the restore began.
    std::int64_t items = 0, items_total = 0;
  };
  [[nodiscard]] std::vector<Progress> progress(std::string_view account) const;
  // Waits until the account has no restore in the background. Returns false on time-out or when `stop` is
  // requested.
  bool settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop = {});

 private:
  struct Job {
    engine::Scope scope;
    std::shared_ptr<engine::LiveTable> table;
    RestoreOrigin origin;
    std::int64_t items_total = 0;
    std::optional<engine::HistoryCursor> from;  // nullopt after a failure: start over
    std::uint64_t generation = 0;               // the account's generation when the job began
  };
  enum class Went : std::uint8_t {
    on,
    done,
    over,     // the table was dropped or replaced
    gone,     // the source is gone
    no_room,  // memory is full
  };
  class Fills;  // the background task

  // Returns the origin with a point that is held for this restore. Errors: BackupNotFoundException or
  // TableNotFoundException if the source is gone; LimitExceededException if the history or memory is full.
  Result<RestoreOrigin> hold(RestoreOrigin origin) const;
  [[nodiscard]] std::optional<engine::HistoryCursor> source_of(const RestoreOrigin& origin) const;
  [[nodiscard]] std::int64_t items_of(const RestoreOrigin& origin) const;
  Result<void> admit(const Context& context, const engine::Table& table, const RestoreOrigin& origin) const
      REQUIRES(mutex_);
  [[nodiscard]] bool uses(std::string_view account, std::string_view backup) const REQUIRES(mutex_);
  // Writes up to `items_max` of the job's items.
  Went fill(Job& job, std::size_t items_max);
  void finish(const Job& job);
  void remove(const Job& job);
  void let_go(std::string_view account, const RestoreOrigin& origin);
  void in_background(std::unique_ptr<Job> job);
  [[nodiscard]] std::uint64_t generation(std::string_view account) const REQUIRES(mutex_);
  // Returns true if the account has not been restored or reset since the job began.
  [[nodiscard]] bool is_current(const Job& job) const;
  void resume(std::string_view account, std::string_view cut_off_by);

  engine::Database& database_;
  Backups& backups_;
  TableChanges& table_changes_;
  const std::function<void(std::string_view)> report_;
  const std::size_t at_once_max_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  engine::Bell ended_;
  const std::shared_ptr<Fills> fills_;

  // Held while restores are admitted and while backups are erased. Lock order: the account's request first,
  // then this mutex, then storage.
  mutable engine::Mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> generations_ GUARDED_BY(mutex_);  // by account
};

}  // namespace mayfly::compat::backups
