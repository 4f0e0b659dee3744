#include "compat/backups/restores.h"

#include <algorithm>
#include <deque>
#include <stop_token>
#include <utility>

#include "compat/backups/arn.h"
#include "compat/memory_room.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/base/attempt.h"
#include "engine/items/fill.h"
#include "engine/items/recent_writes.h"
#include "engine/storage/documents.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::backups {
namespace {

constexpr std::size_t background_items = 1024;  // per step

RestoreSummary summary_of(const RestoreOrigin& origin) {
  return {.backup_arn = origin.backup_arn, .table_arn = origin.table_arn, .at = origin.at};
}

TableChange change_of(std::shared_ptr<const engine::Table> table, const RestoreOrigin& origin) {
  TableChange change{TableStatus::creating, std::move(table)};
  change.restore = summary_of(origin);
  return change;
}

// Compares backups without the region, because the region in a request's ARN can differ from the region of
// the backup.
bool same_backup(std::string_view a, std::string_view b) {
  const auto one = parse_backup_arn(a), other = parse_backup_arn(b);
  return one && other && one->table_name == other->table_name && one->id == other->id;
}

// Holds a table's announcement, and withdraws the announcement if the restore does not start.
class Announcement {
 public:
  Announcement(TableChanges& changes, const engine::Scope& scope, TableChange change)
      : changes_(changes),
        scope_(scope),
        name_(change.shown->name),
        held_(changes_.try_hold(scope_, std::move(change))) {}
  ~Announcement() {
    if (held_ && !stays_) changes_.drop(scope_, name_);
  }
  [[nodiscard]] bool held() const { return held_; }  // false: the name is already taken
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  void stays(TableChange change) {
    changes_.hold(scope_, std::move(change));
    stays_ = true;
  }

 private:
  TableChanges& changes_;
  const engine::Scope& scope_;
  const std::string name_;
  const bool held_;
  bool stays_ = false;
};

// Drops a restore's point if the restore does not start.
class HeldPoint {
 public:
  HeldPoint(Backups& backups, std::string_view account, const RestoreOrigin& origin)
      : backups_(backups), account_(account), point_(static_cast<engine::PointId>(origin.held)) {}
  ~HeldPoint() {
    if (!stays_) backups_.let_go(account_, point_);
  }
  HeldPoint(const HeldPoint&) = delete;
  HeldPoint& operator=(const HeldPoint&) = delete;

  void stays() { stays_ = true; }

 private:
  Backups& backups_;
  const std::string_view account_;
  const engine::PointId point_;
  bool stays_ = false;
};

}  // namespace

// Each step continues the restore whose turn it is.
class Restores::Fills final : public engine::Task {
 public:
  explicit Fills(Restores& restores) : of_(restores) {}

  void add(std::unique_ptr<Job> job) {
    const engine::Lock lock(mutex_);
    under_way_.try_emplace(job->table, Known{job->scope, job->items_total});
    jobs_.push_back(std::move(job));
  }
  void forget(std::string_view account) {
    {
      const engine::Lock lock(mutex_);
      std::erase_if(jobs_, [&](const auto& job) { return job->scope.account == account; });
      std::erase_if(under_way_, [&](const auto& one) { return one.second.scope.account == account; });
    }
    of_.ended_.ring();
  }
  [[nodiscard]] std::size_t count() const {
    const engine::Lock lock(mutex_);
    return under_way_.size();
  }
  [[nodiscard]] std::vector<Progress> progress(std::string_view account) const {
    const engine::Lock lock(mutex_);
    std::vector<Progress> shown;
    for (const auto& [table, job] : under_way_) {
      if (job.scope.account != account) continue;
      const auto description = table->description();
      shown.push_back({job.scope, description->name, description->created, table->counter(0).items.load(),
                       job.items_total});
    }
    return shown;
  }

 private:
  Next step() override {
    std::unique_ptr<Job> job = next();
    if (job == nullptr) return Next::when_woken();
    const auto go_on = [&] {
      const auto request = of_.database_.accounts().of(job->scope.account).begin_request();
      if (!of_.is_current(*job)) return ended(*job);
      switch (of_.fill(*job, std::min(background_items, of_.at_once_max_))) {
        case Went::on: give_back(std::move(job)); return Next::at_once();
        case Went::done: of_.finish(*job); return ended(*job);
        case Went::no_room:
          of_.report_("The restore of table " + job->table->description()->name +
                      " stopped because the memory limit is reached; the table is removed.");
          of_.remove(*job);
          return ended(*job);
        case Went::gone:
          of_.report_(
              "The restore of table " + job->table->description()->name +
              " cannot continue after a failure because its source no longer exists; the table is removed.");
          of_.remove(*job);
          return ended(*job);
        case Went::over: break;
      }
      of_.table_changes_.drop(job->scope, job->table->description()->name);
      of_.let_go(job->scope.account, job->origin);
      return ended(*job);
    };
    return engine::attempt(go_on, [&](std::string_view why) {
      job->from.reset();
      give_back(std::move(job));
      return failed(why);
    });
  }
  Next failed(std::string_view) override { return Next::after(*of_.scheduler_, fault_wait); }

  std::unique_ptr<Job> next() {
    const engine::Lock lock(mutex_);
    if (jobs_.empty()) return nullptr;
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }
  void give_back(std::unique_ptr<Job> job) {
    const engine::Lock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  Next ended(const Job& job) {
    {
      const engine::Lock lock(mutex_);
      under_way_.erase(job.table);
    }
    of_.ended_.ring();
    return Next::at_once();
  }

  Restores& of_;  // exists during every step: ~Restores ends the scheduler first
  mutable engine::Mutex mutex_;
  std::deque<std::unique_ptr<Job>> jobs_ GUARDED_BY(mutex_);  // at most restores_max per account
  struct Known {
    engine::Scope scope;
    std::int64_t items_total;
  };
  // The restores in jobs_, and the one in the current step.
  std::map<std::shared_ptr<engine::LiveTable>, Known> under_way_ GUARDED_BY(mutex_);
};

Restores::Restores(engine::Database& database, Backups& backups, TableChanges& table_changes,
                   std::function<void(std::string_view)> report, std::size_t at_once_max)
    : database_(database),
      backups_(backups),
      table_changes_(table_changes),
      report_(report ? std::move(report) : [](std::string_view) {}),
      at_once_max_(at_once_max),
      scheduler_(database.options().make_scheduler(1)),
      fills_(std::make_shared<Fills>(*this)) {
  for (const std::string& account : database_.accounts().ids()) resume(account, "a server restart");
  database_.documents().listen(this, [this](std::string_view account) {
    {
      const engine::Lock lock(mutex_);
      ++generations_.try_emplace(std::string(account)).first->second;
    }
    fills_->forget(account);
    for (const TableChanges::Restoring& one : table_changes_.restoring(account))
      table_changes_.drop(one.scope, one.table_name);
    resume(account, "the restore of a snapshot");
  });
}

Restores::~Restores() {
  database_.documents().listen(this, {});
  scheduler_->end();  // waits for the current step, which is short
}

Result<RestoreOrigin> Restores::hold(RestoreOrigin origin) const {
  engine::History& history = database_.history();
  if (!origin.backup_arn.empty()) {
    const auto point = history.hold_point(static_cast<engine::PointId>(origin.point));
    if (!point) return error::backup_not_found("Backup not found: " + origin.backup_arn);
    origin.held = point->id;
    return origin;
  }
  const auto table = database_.catalog().find(static_cast<engine::TableId>(origin.source_table));
  if (table == nullptr) return error::table_not_found("Table not found");
  const auto point = history.hold_instant(table, origin.at);
  if (point) {
    origin.held = point->id;
    return origin;
  }
  if (point.error() == engine::PointRefusal::dropped) return error::table_not_found("Table not found");
  CHECK_OK(check_room(database_));
  return error::limit_exceeded("The server's limit of old item versions is reached (" +
                               std::to_string(database_.history_size().bytes_max()) +
                               " bytes, set by --history-max).");
}

std::optional<engine::HistoryCursor> Restores::source_of(const RestoreOrigin& origin) const {
  std::optional<engine::HistoryCursor> source;
  if (const auto number = origin.held != 0 ? origin.held : origin.point; number != 0) {
    const auto point = database_.history().find_point(static_cast<engine::PointId>(number));
    if (point) source.emplace(database_.reader(), *point);
  } else {
    const auto table = database_.catalog().find(static_cast<engine::TableId>(origin.source_table));
    if (table) source.emplace(database_.reader(), *table, origin.at);
  }
  if (source && source->gone()) source.reset();
  return source;
}

std::int64_t Restores::items_of(const RestoreOrigin& origin) const {
  if (const auto number = origin.held != 0 ? origin.held : origin.point; number != 0) {
    const auto point = database_.history().find_point(static_cast<engine::PointId>(number));
    return point ? point->items : 0;
  }
  const auto table = database_.catalog().find(static_cast<engine::TableId>(origin.source_table));
  return table ? table->counter(0).items.load() : 0;
}

bool Restores::uses(std::string_view account, std::string_view backup) const {
  const auto restoring = table_changes_.restoring(account);
  return std::any_of(restoring.begin(), restoring.end(), [&](const TableChanges::Restoring& one) {
    return same_backup(one.summary.backup_arn, backup);
  });
}

Result<void> Restores::admit(const Context& context, const engine::Table& table,
                             const RestoreOrigin& origin) const {
  if (!origin.backup_arn.empty() && uses(context.scope.account, origin.backup_arn))
    return error::backup_in_use("Backup is being used to restore another table: " + origin.backup_arn);
  const auto change = table_changes_.find(context.scope, table.name);
  if (change && change->status == TableStatus::creating && change->restore) {
    return error::table_in_use("Table: " + table.name + " is already being restored" +
                               (change->restore->backup_arn.empty()
                                    ? " from table: " + change->restore->table_arn
                                    : " from backup: " + change->restore->backup_arn));
  }
  if (database_.catalog().find(context.scope, table.name) != nullptr ||
      (change && change->status == TableStatus::deleting))
    return error::table_already_exists("Table already exists: " + table.name);
  if (table_changes_.restoring(context.scope.account).size() >= restores_max) {
    return error::limit_exceeded("Subscriber limit exceeded: Only " + std::to_string(restores_max) +
                                 " restore operations can be done simultaneously");
  }
  return check_room(database_);
}

Result<Restores::Started> Restores::start(const Context& context, engine::Table table,
                                          const RestoreOrigin& from) {
  const std::string name = table.name;
  std::unique_ptr<Job> job;
  {
    const engine::Lock lock(mutex_);
    CHECK_OK(admit(context, table, from));
    TRY(const RestoreOrigin origin, hold(from));
    HeldPoint point(backups_, context.scope.account, origin);
    auto source = source_of(origin);
    change_settings(table, [&](TableSettings& settings) { settings.restored_from = origin; });
    // Announce the table before creating it, so that no client ever sees it as complete.
    Announcement announcement(table_changes_, context.scope,
                              change_of(std::make_shared<engine::Table>(table), origin));
    if (!announcement.held()) return error::table_already_exists("Table already exists: " + name);
    auto made = database_.tables().create(std::move(table), context.tables_max);
    if (made == nullptr) {
      if (database_.catalog().find(context.scope, name) != nullptr)
        return error::table_already_exists("Table already exists: " + name);
      return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                   std::to_string(context.tables_max) + " tables per subscriber");
    }
    announcement.stays(change_of(made->description(), origin));
    job = std::make_unique<Job>(Job{context.scope, std::move(made), origin, items_of(origin),
                                    std::move(source), generation(context.scope.account)});
    point.stays();
  }
  const RestoreOrigin origin = job->origin;
  Started started{change_of(job->table->description(), origin), job->table};
  // If filling the table fails here, the restore continues in the background, because a client that has been
  // told about the restore relies on its completion.
  const auto some = [&] {
    const Went went = fill(*job, at_once_max_);
    if (went == Went::done) finish(*job);
    if (went == Went::no_room) remove(*job);
    return went;
  };
  const Went went = engine::attempt(some, [&](std::string_view) {
    job->from.reset();
    return Went::on;
  });
  if (went == Went::on) in_background(std::move(job));
  if (went == Went::over || went == Went::gone) {
    table_changes_.drop(context.scope, name);
    let_go(context.scope.account, origin);
  }
  if (went == Went::no_room) {
    CHECK_OK(check_room(database_));
    return error::limit_exceeded("The restored table exceeds the server's memory limit (--memory-max).");
  }
  return started;
}

Restores::Went Restores::fill(Job& job, std::size_t items_max) {
  if (!job.from) job.from = source_of(job.origin);
  if (!job.from) return Went::gone;
  std::stop_source enough;
  const auto filled = engine::fill(
      database_.write_path(), *job.from, job.table, enough.get_token(),
      [&](const engine::Filled& so_far) {
        if (static_cast<std::size_t>(so_far.items) >= items_max) enough.request_stop();
      },
      items_max);
  if (filled) return Went::done;
  switch (filled.error()) {
    case engine::FillRefusal::stopped: return Went::on;
    case engine::FillRefusal::no_room: return Went::no_room;
    case engine::FillRefusal::gone: return Went::gone;
    case engine::FillRefusal::dropped: break;
  }
  return Went::over;
}

void Restores::finish(const Job& job) {
  const std::string name = job.table->description()->name;
  database_.tables().update(job.table, [this](engine::Table& edited) {
    change_settings(edited, [](TableSettings& settings) { settings.restored_from.reset(); });
    database_.recent_writes().forget(edited.id);  // from now on, readers see all items
  });
  table_changes_.settle(job.scope, name);
  let_go(job.scope.account, job.origin);
}

void Restores::remove(const Job& job) {
  const std::string name = job.table->description()->name;
  database_.tables().drop(job.table);
  table_changes_.drop(job.scope, name);
  let_go(job.scope.account, job.origin);
}

void Restores::let_go(std::string_view account, const RestoreOrigin& origin) {
  if (origin.held != 0) backups_.let_go(account, static_cast<engine::PointId>(origin.held));
}

void Restores::in_background(std::unique_ptr<Job> job) {
  fills_->add(std::move(job));
  // If no thread can be started now, the next restore that needs a thread starts one, which also continues
  // this restore.
  static_cast<void>(scheduler_->start());
  scheduler_->wake(fills_);
}

std::uint64_t Restores::generation(std::string_view account) const {
  const auto found = generations_.find(account);
  return found == generations_.end() ? 0 : found->second;
}

bool Restores::is_current(const Job& job) const {
  const engine::Lock lock(mutex_);
  return generation(job.scope.account) == job.generation;
}

Result<void> Restores::erase(const Backup& backup, std::string_view arn) {
  const engine::Lock lock(mutex_);
  if (uses(backup.scope.account, arn_of(backup)))
    return error::backup_in_use("Backup is being used to restore table: " + std::string(arn));
  if (!backups_.erase(backup)) return error::backup_not_found("Backup not found: " + std::string(arn));
  return {};
}

std::size_t Restores::under_way() const { return fills_->count(); }

std::vector<Restores::Progress> Restores::progress(std::string_view account) const {
  return fills_->progress(account);
}

bool Restores::settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop) {
  const std::stop_callback wakes_us(stop, [this] { ended_.ring(); });
  while (true) {
    const auto ticket = ended_.ticket();
    if (fills_->progress(account).empty()) return true;
    if (stop.stop_requested() || !ended_.wait(ticket, deadline)) return false;
  }
}

void Restores::resume(std::string_view account, std::string_view cut_off_by) {
  for (const auto& table : database_.catalog().tables(account)) {
    const auto description = table->description();
    const auto origin = settings_of(*description).restored_from;
    if (!origin) continue;
    const engine::Scope scope{description->account, description->region};
    const std::string what =
        "The restore of table " + description->name + ", interrupted by " + std::string(cut_off_by) + ", ";
    auto source = source_of(*origin);
    if (!source) {
      report_(what + "cannot continue because its source no longer exists; the table is removed.");
      database_.tables().drop(table);
      let_go(account, *origin);
      continue;
    }
    report_(what + "continues.");
    table_changes_.hold(scope, change_of(description, *origin));
    std::uint64_t number = 0;
    {
      const engine::Lock lock(mutex_);
      number = generation(account);
    }
    in_background(
        std::make_unique<Job>(Job{scope, table, *origin, items_of(*origin), std::move(source), number}));
  }
}

}  // namespace mayfly::compat::backups
