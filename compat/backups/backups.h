// The backups of all accounts, and point-in-time recovery of tables.
//
//   const auto backup = backups.create(scope, *table, "nightly");     // Expected<Backup, …>
//   backups.find(scope, "carts", backup->id)
//   backups.drop_table(table)                       // leaves a SYSTEM backup if recovery is on
//
// A backup that has a document also has its point: the point is taken before the document is written, and is
// dropped after the document is deleted. The SYSTEM backup of a table is written in the same batch that drops
// the table. A storage failure in between can leave a point without a document. Such a point is dropped when
// storage works again or, if the server has stopped, at the next start.
//
// A SYSTEM backup becomes invisible in the millisecond in which it expires, by its account's clock. A
// background task then deletes the backup and the data that the backup holds. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compat/backups/backup.h"
#include "compat/wire/error.h"
#include "engine/background/history.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"

namespace mayfly::compat::backups {

inline constexpr std::int64_t recovery_days_max = 35;
// How far the latest restorable instant lags behind the current time on AWS.
inline constexpr engine::Instant recovery_lag_ms = std::int64_t{300} * 1000;

class Backups {
 public:
  // If `exact` is true, tables can be restored to any time up to now; if it is false, tables can be
  // restored to any time up to five minutes ago. Requires: `database` outlives this object.
  Backups(engine::Database& database, std::size_t backups_max, bool exact);
  ~Backups();
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  // Creates a backup. Errors: LimitExceededException if the account has the maximum number of backups, or if
  // the history or the memory is full; TableNotFoundException if the table has been dropped. Requires, like
  // every function here that changes something: the account is not being replaced (documents.h). This is
  // always so within a request.
  Result<Backup> create(const std::shared_ptr<engine::LiveTable>& table, std::string_view name);
  // Returns nullopt if the backup does not exist or has expired.
  [[nodiscard]] std::optional<Backup> find(const engine::Scope& scope, std::string_view table_name,
                                           std::string_view id) const;
  // Returns all backups of the region, in the order of ListBackups.
  [[nodiscard]] std::vector<Backup> list(const engine::Scope& scope) const;
  // Returns false if the backup is already gone.
  bool erase(const Backup& backup);
  // Drops a point that no document or table refers to, immediately or as soon as storage works again.
  void let_go(std::string_view account, engine::PointId point);
  // Drops the table, leaving a SYSTEM backup if recovery is on. Returns false if the table is already gone.
  bool drop_table(const std::shared_ptr<engine::LiveTable>& table);
  // Like TableLifecycle::update_together, but a dropped table leaves a SYSTEM backup if its recovery is on.
  Expected<engine::Catalog::Together, engine::Catalog::Refusal> update_together(
      const std::shared_ptr<engine::LiveTable>& table, const engine::Catalog::ChangeTogether& change);

  // --- recovery
  // Turns on recovery, which then covers the last `days` days, or turns it off if `days` is nullopt. Error:
  // TableNotFoundException if the table has been dropped.
  Result<void> set_recovery(const std::shared_ptr<engine::LiveTable>& table,
                            std::optional<std::int64_t> days);
  // The restorable period as DescribeContinuousBackups reports it. Both times are whole seconds, except that
  // `latest` has milliseconds if the constructor's `exact` was true.
  struct Window {
    engine::Instant earliest, latest;
    // The first restorable instant. It can be later than `earliest`, which is rounded down to a whole second.
    // `within` maps an instant of the window to the instant whose state is read.
    engine::Instant first;
    [[nodiscard]] engine::Instant within(engine::Instant at) const { return at < first ? first : at; }
    [[nodiscard]] bool has(engine::Instant at) const { return earliest <= at && at <= latest; }
  };
  // Returns nullopt if recovery is off.
  [[nodiscard]] std::optional<Window> window(const engine::LiveTable& table) const;

  // --- totals over all accounts
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t backups_max() const { return backups_max_; }
  // For tests: how many times the expiry task has examined an account.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  class Expiry;  // the background task

  // Makes the points match the documents of backups and restores. Called when the server starts, and after an
  // account was restored or reset. Also turns on recovery for tables of old data directories, where recovery
  // was only a setting.
  void reconcile(std::string_view account);
  void forget_expired(std::string_view account) REQUIRES(mutex_);
  void let_go_locked(std::string_view account, engine::PointId point) REQUIRES(mutex_);
  void drop_left_over(std::string_view account) REQUIRES(mutex_);
  [[nodiscard]] bool any_left_over(std::string_view account);
  void watch_expiry(std::string_view account);  // for an account with a SYSTEM backup or a left-over point
  [[nodiscard]] std::set<std::string> accounts() const;
  [[nodiscard]] std::vector<Backup> all(std::string_view account) const;
  // Returns the record of a backup for a new point. The record's id is unique if no other backup is written
  // before this one.
  [[nodiscard]] Backup backup_of(const engine::Point& point, std::string_view name, bool system) const;

  engine::Database& database_;
  const std::size_t backups_max_;
  const bool exact_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  const std::shared_ptr<Expiry> expiry_;
  // Held while backups are changed. Lock order: the account's request first, then this mutex, then storage.
  engine::Mutex mutex_;
  // Points that could not be dropped yet, by account.
  std::map<std::string, std::vector<engine::PointId>, std::less<>> left_over_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::backups
