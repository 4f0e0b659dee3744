// The backups that accounts have, and whether tables can be gone back to instants.
//
//   const auto backup = backups.create(scope, *table, "nightly");     // Expected<Backup, …>
//   backups.find(scope, "carts", backup->id)
//   backups.drop_table(table)                                         // leaves a SYSTEM backup, where it has
//   to
//
// A backup that has its document has its point: points are taken first and dropped last, and what a table
// leaves behind is written with its end. Points that nobody has a document of, since storage failed in
// between, go when it does not fail any more, or, since the server ended, when it starts.
//
// SYSTEM backups whose time is over are found no more from that millisecond of their account's clock on; a
// task takes them, and what they hold on to, away. Thread-safe.
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
#include "engine/database.h"
#include "engine/expected.h"
#include "engine/history.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::compat::backups {

inline constexpr std::int64_t recovery_days_max = 35;
// How far AWS stays behind with what can be gone back to.
inline constexpr engine::Instant recovery_lag_ms = std::int64_t{300} * 1000;

class Backups {
 public:
  // `exact`: a table can be gone back to its present, not to five minutes ago. The database outlives it.
  Backups(engine::Database& database, std::size_t backups_max, bool exact);
  ~Backups();
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  // LimitExceededException: the account has as many as it may, or what they need takes as much as it may.
  // TableNotFoundException: the table is dropped. Requires, as all changes here: the account is not being
  // replaced (documents.h), as in a request.
  Result<Backup> create(const std::shared_ptr<engine::LiveTable>& table, std::string_view name);
  // Nothing: there is none, or it has expired.
  [[nodiscard]] std::optional<Backup> find(const engine::Scope& scope, std::string_view table_name,
                                           std::string_view id) const;
  // Of all its region, in the order of their places.
  [[nodiscard]] std::vector<Backup> list(const engine::Scope& scope) const;
  // False: somebody else did.
  bool erase(const Backup& backup);
  // Drops a point that no document or table names: at once, or as soon as that can be stored.
  void let_go(std::string_view account, engine::PointId point);
  // Drops the table. One whose recovery is on leaves a SYSTEM backup. False: somebody else did.
  bool drop_table(const std::shared_ptr<engine::LiveTable>& table);
  // Database::update_together; each table that it drops and whose recovery is on leaves a SYSTEM backup.
  Expected<engine::Catalog::Together, engine::Catalog::Refusal> update_together(
      const std::shared_ptr<engine::LiveTable>& table, const engine::Catalog::ChangeTogether& change);

  // --- recovery
  // Switches it, for so many days; nothing: off. TableNotFoundException: the table is dropped.
  Result<void> set_recovery(const std::shared_ptr<engine::LiveTable>& table,
                            std::optional<std::int64_t> days);
  // What can be gone back to, as DescribeContinuousBackups says it: whole seconds, but for an exact `latest`.
  struct Window {
    engine::Instant earliest, latest;
    // The instant to read at, for one that is in the window: its first second begins before recovery did.
    engine::Instant first;
    [[nodiscard]] engine::Instant within(engine::Instant at) const { return at < first ? first : at; }
    [[nodiscard]] bool has(engine::Instant at) const { return earliest <= at && at <= latest; }
  };
  // Nothing: recovery is off.
  [[nodiscard]] std::optional<Window> window(const engine::LiveTable& table) const;

  // --- what there is, of all accounts
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t backups_max() const { return backups_max_; }
  // For tests: how many accounts were looked at for something that expires.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  class Expiry;  // the task

  // Points are those of backups and restores: after a start, and after a restore or a reset of the account.
  // Tables whose recovery was a setting alone, before there was anything to go back to, begin to keep what
  // they were.
  void reconcile(std::string_view account);
  void forget_expired(std::string_view account) REQUIRES(mutex_);
  void let_go_locked(std::string_view account, engine::PointId point) REQUIRES(mutex_);
  void drop_left_over(std::string_view account) REQUIRES(mutex_);
  [[nodiscard]] bool any_left_over(std::string_view account);
  void watch_expiry(std::string_view account);  // it has a SYSTEM backup, or a point that is left over
  [[nodiscard]] std::set<std::string> accounts() const;
  [[nodiscard]] std::vector<Backup> all(std::string_view account) const;
  // A point's, with an id that no other has while nobody else keeps one.
  [[nodiscard]] Backup backup_of(const engine::Point& point, std::string_view name, bool system) const;

  engine::Database& database_;
  const std::size_t backups_max_;
  const bool exact_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  const std::shared_ptr<Expiry> expiry_;
  // While backups are changed. Taken within an account's requests; storage within it.
  engine::Mutex mutex_;
  // Points that could not be dropped, by account.
  std::map<std::string, std::vector<engine::PointId>, std::less<>> left_over_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::backups
