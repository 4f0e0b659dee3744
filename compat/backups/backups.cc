#include "compat/backups/backups.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "compat/backups/arn.h"
#include "compat/memory_room.h"
#include "compat/settings/settings.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/base/attempt.h"
#include "engine/base/interleaving.h"
#include "engine/base/random.h"
#include "engine/storage/documents.h"
#include "engine/tables/catalog.h"
#include "engine/time/agenda.h"

namespace mayfly::compat::backups {
namespace {

engine::Scope scope_of(const engine::Table& table) { return {table.account, table.region}; }

engine::Instant whole_second(engine::Instant instant) { return instant - instant % 1000; }

Unexpected<Error> table_gone(const engine::LiveTable& table) {
  return error::table_not_found("Table not found: " + table.description()->name);
}

}  // namespace

// Deletes expired SYSTEM backups and leftover points, which are points that are no longer needed but could
// not be dropped yet. Each step examines one account.
class Backups::Expiry final : public engine::Task {
 public:
  explicit Expiry(Backups& backups) : of_(backups) {}

  // Call when the account has a SYSTEM backup or a leftover point.
  void watch(std::string_view account) {
    {
      const engine::Lock lock(mutex_);
      watched_.emplace(account);
    }
    agenda_.add(std::string(account));
  }
  // Call when the account's clock has moved. Returns false if the account has nothing that can expire.
  bool time_moved(std::string_view account) {
    {
      const engine::Lock lock(mutex_);
      if (!watched_.contains(account)) return false;
    }
    agenda_.add(std::string(account));
    return true;
  }
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }

 private:
  Next step() override {
    if (accounts_.empty()) accounts_ = agenda_.take(of_.scheduler_->now());
    if (accounts_.empty()) {
      const auto alarm = agenda_.next_alarm();
      return alarm ? Next::at(*alarm) : Next::when_woken();
    }
    const std::string account = std::move(accounts_.back());
    accounts_.pop_back();
    engine::attempt([&] { look_at(account); }, [&](std::string_view) { look_again(account, fault_wait); });
    return Next::at_once();
  }
  Next failed(std::string_view) override { return Next::after(*of_.scheduler_, fault_wait); }

  void look_at(const std::string& account) {
    {
      // Watch the account before reading its clock, so that a move of the clock either is seen here or puts
      // the account on the agenda again.
      const engine::Lock lock(mutex_);
      watched_.insert(account);
    }
    bool any = false, any_due = false;
    std::optional<std::chrono::nanoseconds> pause;
    const engine::Instant now = of_.database_.accounts().of(account).now();
    for (const Backup& backup : of_.all(account)) {
      if (!backup.expires()) continue;
      any = true;
      any_due = any_due || *backup.expires() <= now;
      if (const auto left = of_.database_.accounts().of(account).clock().real_time_until(*backup.expires()))
        pause = std::min(pause.value_or(*left), *left);
    }
    if (any_due || of_.any_left_over(account)) {
      {
        const auto request = of_.database_.accounts().of(account).begin_request();
        const engine::Lock lock(of_.mutex_);
        of_.forget_expired(account);
      }
      return agenda_.add(account);  // something else may expire later
    }
    if (pause) look_again(account, *pause);
    if (any) return;
    const engine::Lock lock(mutex_);
    watched_.erase(account);  // a concurrent watch() puts the account on the agenda
  }

  void look_again(const std::string& account, std::chrono::nanoseconds pause) {
    agenda_.set_alarm(account, of_.scheduler_->now() + std::chrono::ceil<engine::RealTime::duration>(pause));
  }

  Backups& of_;  // exists during every step: ~Backups ends the scheduler first
  engine::AgendaOfIds agenda_;
  std::vector<std::string> accounts_;  // taken from the agenda but not examined yet
  engine::Mutex mutex_;
  std::set<std::string, std::less<>> watched_ GUARDED_BY(mutex_);  // accounts with something to expire
};

Backups::Backups(engine::Database& database, std::size_t backups_max, bool exact)
    : database_(database),
      backups_max_(backups_max),
      exact_(exact),
      scheduler_(database.options().make_scheduler(1)),
      expiry_(std::make_shared<Expiry>(*this)) {
  for (const std::string& account : accounts()) reconcile(account);
  database_.documents().listen(this, [this](std::string_view account) { reconcile(account); });
  database_.time_travel().listen(this, [this](std::string_view account) {
    if (expiry_->time_moved(account)) scheduler_->wake(expiry_);
  });
}

Backups::~Backups() {
  database_.time_travel().listen(this, {});
  database_.documents().listen(this, {});
  scheduler_->end();  // waits for the current step, which is short
}

std::uint64_t Backups::looks() const { return expiry_->looks(); }

void Backups::watch_expiry(std::string_view account) {
  expiry_->watch(account);
  static_cast<void>(scheduler_->start());  // if no thread can be started now, a later call tries again
  scheduler_->wake(expiry_);
}

void Backups::reconcile(std::string_view account) {
  const engine::Lock lock(mutex_);
  engine::History& history = database_.history();
  left_over_.erase(std::string(account));  // a restore may have brought back backups that use these points
  const std::vector<Backup> kept = all(account);
  std::set<engine::PointId> wanted;
  for (const Backup& backup : kept) wanted.insert(backup.point);
  std::set<engine::PointId> held;
  for (const auto& table : database_.catalog().tables(account)) {
    if (const auto origin = settings_of(*table->description()).restored_from)
      held.insert(static_cast<engine::PointId>(origin->held));
  }
  for (const engine::Point& point : history.points(account)) {
    if (wanted.erase(point.id) == 0 && !held.contains(point.id)) let_go_locked(account, point.id);
  }
  std::vector<engine::DocumentName> without_point;
  bool any_expires = false;
  for (const Backup& backup : kept) {
    if (wanted.contains(backup.point)) {
      without_point.push_back(document_name(backup.scope, backup.id, backup.table_name));
    } else if (backup.expires()) {
      any_expires = true;
    }
  }
  if (!without_point.empty()) database_.documents().write(without_point, {});
  if (any_expires) watch_expiry(account);
  for (const auto& table : database_.catalog().tables(account)) {
    const TableSettings settings = settings_of(*table->description());
    if (!settings.recovery_since) continue;
    history.keep(table, settings.recovery_days);
    database_.tables().update(table, [](engine::Table& edited) {
      change_settings(edited, [](TableSettings& before) {
        before.recovery_since.reset();
        before.recovery_days = recovery_days_max;
      });
    });
  }
}

// The result includes accounts without tables and accounts that no request has used since the server started.
std::set<std::string> Backups::accounts() const {
  std::set<std::string> accounts;
  for (std::string& account : database_.accounts().ids()) accounts.insert(std::move(account));
  for (engine::Document& stored : database_.documents().list(document_kind))
    accounts.insert(std::move(stored.name.account));
  return accounts;
}

std::vector<Backup> Backups::all(std::string_view account) const {
  std::vector<Backup> backups;
  for (const engine::Document& stored : database_.documents().list(account, document_kind)) {
    if (auto backup = from_document(stored)) backups.push_back(*std::move(backup));
  }
  return backups;
}

Backup Backups::backup_of(const engine::Point& point, std::string_view name, bool system) const {
  Backup backup;
  backup.scope = scope_of(point.table);
  backup.table_name = point.table.name;
  backup.name = name;
  backup.system = system;
  backup.created = point.at;
  backup.bytes = point.bytes;
  backup.table_uuid = point.table.uuid;
  backup.point = point.id;
  // On AWS, the ids of SYSTEM backups end with zeros. Here, the number at the end counts up from 0 if
  // necessary, because several tables of the same name can be deleted at the same instant of a frozen clock.
  auto number = system ? 0 : static_cast<std::uint32_t>(database_.options().random->next() | 1);
  do {
    backup.id = backup_id(point.at, number++);
  } while (database_.documents().get(document_name(backup.scope, backup.id, backup.table_name)));
  return backup;
}

Result<Backup> Backups::create(const std::shared_ptr<engine::LiveTable>& table, std::string_view name) {
  const std::string account = table->description()->account;
  const engine::Lock lock(mutex_);
  forget_expired(account);
  if (all(account).size() >= backups_max_) {
    return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                 std::to_string(backups_max_) + " backups per subscriber (--backups-max)");
  }
  const auto point = database_.history().take_point(table);
  if (!point) {
    if (point.error() == engine::PointRefusal::dropped) return table_gone(*table);
    CHECK_OK(check_room(database_));
    return error::limit_exceeded("The server's limit of old item versions is reached (" +
                                 std::to_string(database_.history_size().bytes_max()) +
                                 " bytes, set by --history-max).");
  }
  Backup backup;
  engine::attempt(
      [&] {
        backup = backup_of(*point, name, false);
        const engine::Document document = to_document(backup);
        database_.documents().put(document.name, document.bytes);
      },
      [&](std::string_view) NO_THREAD_SAFETY_ANALYSIS {
        let_go_locked(account, point->id);
        throw;
      });
  engine::interleave("backup kept");
  return backup;
}

std::optional<Backup> Backups::find(const engine::Scope& scope, std::string_view table_name,
                                    std::string_view id) const {
  const engine::DocumentName name = document_name(scope, id, table_name);
  auto bytes = database_.documents().get(name);
  if (!bytes) return std::nullopt;
  auto backup = from_document({name, *std::move(bytes)});
  if (!backup ||
      database_.accounts().of(scope.account).now() >= backup->expires().value_or(engine::last_instant + 1))
    return std::nullopt;
  return backup;
}

std::vector<Backup> Backups::list(const engine::Scope& scope) const {
  std::vector<Backup> backups;
  const engine::Instant now = database_.accounts().of(scope.account).now();
  for (const engine::Document& stored :
       database_.documents().list(scope.account, document_kind, document_prefix(scope.region))) {
    auto backup = from_document(stored);
    if (backup && now < backup->expires().value_or(engine::last_instant + 1))
      backups.push_back(*std::move(backup));
  }
  std::sort(backups.begin(), backups.end(),
            [](const Backup& a, const Backup& b) { return a.place() < b.place(); });
  return backups;
}

bool Backups::erase(const Backup& backup) {
  const engine::Lock lock(mutex_);
  const engine::DocumentName name = document_name(backup.scope, backup.id, backup.table_name);
  if (!database_.documents().get(name)) return false;
  database_.documents().erase(name);
  engine::interleave("backup erased");
  let_go_locked(backup.scope.account, backup.point);
  return true;
}

void Backups::let_go(std::string_view account, engine::PointId point) {
  const engine::Lock lock(mutex_);
  let_go_locked(account, point);
}

void Backups::let_go_locked(std::string_view account, engine::PointId point) {
  left_over_[std::string(account)].push_back(point);
  engine::attempt([&]() NO_THREAD_SAFETY_ANALYSIS { drop_left_over(account); },
                  [&](std::string_view) { watch_expiry(account); });
}

void Backups::drop_left_over(std::string_view account) {
  const auto of_account = left_over_.find(account);
  if (of_account == left_over_.end()) return;
  for (std::vector<engine::PointId>& points = of_account->second; !points.empty(); points.pop_back())
    database_.history().drop_point(points.back());
  left_over_.erase(of_account);
}

bool Backups::any_left_over(std::string_view account) {
  const engine::Lock lock(mutex_);
  return left_over_.contains(account);
}

void Backups::forget_expired(std::string_view account) {
  drop_left_over(account);
  const engine::Instant now = database_.accounts().of(account).now();
  for (const Backup& backup : all(account)) {
    if (now < backup.expires().value_or(engine::last_instant + 1)) continue;
    database_.documents().erase(document_name(backup.scope, backup.id, backup.table_name));
    let_go_locked(account, backup.point);
  }
}

bool Backups::drop_table(const std::shared_ptr<engine::LiveTable>& table) {
  const auto leave = [&](std::vector<engine::Table>& tables) {
    return std::erase_if(tables, [&](const engine::Table& each) { return each.id == table->id(); }) == 1;
  };
  return update_together(table, leave).has_value();
}

Expected<engine::Catalog::Together, engine::Catalog::Refusal> Backups::update_together(
    const std::shared_ptr<engine::LiveTable>& table, const engine::Catalog::ChangeTogether& change) {
  const engine::Lock lock(mutex_);
  forget_expired(table->description()->account);
  TRY(auto together,
      database_.tables().update_together(
          table, change, engine::no_limit, engine::Catalog::Leaving::point_if_recoverable,
          [&](const engine::Point& point) {
            return to_document(backup_of(point, point.table.name + "$DeletedTableBackup", true));
          }));
  if (!together.points.empty()) watch_expiry(table->description()->account);
  return together;
}

Result<void> Backups::set_recovery(const std::shared_ptr<engine::LiveTable>& table,
                                   std::optional<std::int64_t> days) {
  if (days && !database_.history().keep(table, *days)) return table_gone(*table);
  if (!days) database_.history().forget(table);
  return {};
}

std::optional<Backups::Window> Backups::window(const engine::LiveTable& table) const {
  const auto restorable = database_.history().restorable(table);
  if (!restorable) return std::nullopt;
  const engine::Instant earliest = whole_second(restorable->earliest);
  if (exact_) return Window{earliest, restorable->latest, restorable->earliest};
  const engine::Instant latest = whole_second(restorable->latest - recovery_lag_ms);
  return Window{earliest, std::max(earliest, latest), restorable->earliest};
}

std::size_t Backups::count() const { return database_.documents().list(document_kind).size(); }

}  // namespace mayfly::compat::backups
