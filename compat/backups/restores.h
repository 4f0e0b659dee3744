// Restores: tables that are made of what a backup has, or of what a table was at an instant.
//
//   TRY(const auto started, restores.start(context, std::move(table), origin));
//
// A table is there, CREATING, as soon as its restore begins, and says in its description where it comes from
// (RestoreOrigin). Its items are written in key order; up to `at_once_max` of them before start() returns,
// the rest in steps on a scheduler of its own, none of which does more than that. When all are there the
// description says so and the table is ACTIVE. Until then nobody reads or writes it (tables/lookup.h), and
// its backup is in use.
//
// From its beginning to its end a restore holds a point of what it reads (engine/history.h), so that it ends
// well even if the source is deleted, its recovery is switched off or its backup expires.
//
// A restore that the server's end interrupts continues at the next start. A restore that a snapshot of the
// account includes continues when the snapshot is restored. Both write the items again from the first one.
// Either is reported in a sentence. A table that is removed or replaced meanwhile ends its restore.
//
// A step holds the account's requests shared, as a request does, so that a restore or a reset of the account
// comes between two steps. Thread-safe.
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
#include "compat/tables/changes.h"
#include "compat/tables/settings.h"
#include "compat/wire/error.h"
#include "engine/bell.h"
#include "engine/database.h"
#include "engine/history_cursor.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::compat::backups {

inline constexpr std::size_t restores_max = 50;  // of an account at once, as on AWS

class Restores {
 public:
  // `report` is told what became of restores that were cut off. A request restores `at_once_max` items before
  // it is answered. All outlive it.
  Restores(engine::Database& database, Backups& backups, TableChanges& table_changes,
           std::function<void(std::string_view)> report, std::size_t at_once_max);
  ~Restores();
  Restores(const Restores&) = delete;
  Restores& operator=(const Restores&) = delete;

  // Makes the table and fills it. What it answers is to be described: the table as it is announced, and its
  // counters. In AWS's order: BackupInUseException, TableInUseException or TableAlreadyExistsException,
  // LimitExceededException; BackupNotFoundException and TableNotFoundException where the source went
  // meanwhile. Requires, as erase: the account is not being replaced, as in a request.
  struct Started {
    TableChange change;
    std::shared_ptr<engine::LiveTable> table;
  };
  Result<Started> start(const Context& context, engine::Table table, const RestoreOrigin& origin);

  // Erases a backup that no restore uses. BackupInUseException, BackupNotFoundException; `arn` as the request
  // named it.
  Result<void> erase(const Backup& backup, std::string_view arn);

  // How many go on in the background; and how far those of an account are.
  [[nodiscard]] std::size_t under_way() const;
  struct Progress {
    engine::Scope scope;
    std::string table_name;
    engine::Instant started = 0;
    std::int64_t items = 0, items_total = 0;  // the total of a point in time is what the source has now
  };
  [[nodiscard]] std::vector<Progress> progress(std::string_view account) const;
  // Waits until none of the account's goes on. False: not in time.
  bool settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop = {});

 private:
  struct Job {
    engine::Scope scope;
    std::shared_ptr<engine::LiveTable> table;
    RestoreOrigin origin;
    std::int64_t items_total = 0;
    std::optional<engine::HistoryCursor>
        from;                      // nothing: a failure took what it had read; from the first, then
    std::uint64_t generation = 0;  // of its account
  };
  enum class Went : std::uint8_t {
    on,
    done,
    over,     // the table was dropped or replaced
    gone,     // what it comes from is
    no_room,  // in memory
  };
  class Fills;  // the task

  // The origin with a point of the restore's own. BackupNotFoundException, TableNotFoundException: the source
  // is gone. LimitExceededException: points take all the space that they may have.
  Result<RestoreOrigin> hold(RestoreOrigin origin) const;
  [[nodiscard]] std::optional<engine::HistoryCursor> source_of(const RestoreOrigin& origin) const;
  [[nodiscard]] std::int64_t items_of(const RestoreOrigin& origin) const;
  Result<void> admit(const Context& context, const engine::Table& table, const RestoreOrigin& origin) const
      REQUIRES(mutex_);
  [[nodiscard]] bool uses(std::string_view account, std::string_view backup) const REQUIRES(mutex_);
  // Some of its items.
  Went fill(Job& job, std::size_t items_max);
  void finish(const Job& job);
  void remove(const Job& job);
  void let_go(std::string_view account, const RestoreOrigin& origin);
  void in_background(std::unique_ptr<Job> job);
  [[nodiscard]] std::uint64_t generation(std::string_view account) const REQUIRES(mutex_);
  // Whether the account is still what it was when the job began.
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

  // While restores are admitted and backups erased. Taken within an account's requests; storage within it.
  mutable engine::Mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> generations_ GUARDED_BY(mutex_);  // by account
};

}  // namespace mayfly::compat::backups
