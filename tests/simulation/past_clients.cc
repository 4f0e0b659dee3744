// Client requests about the past: recovery, backups, and restores to an instant or from a backup.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "compat/backups/backup.h"
#include "compat/backups/backups.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/background/history_trimmer.h"
#include "engine/database.h"
#include "tests/simulation/clients.h"

namespace mayfly::testing {
namespace {

using engine::day_ms;

engine::Instant whole_second(engine::Instant instant) { return instant - instant % 1000; }

Candidates joined(Candidates one, const Candidates& other) {
  for (auto& [key, items] : one)
    if (!other.contains(key)) items.push_back(nullptr);
  for (const auto& [key, items] : other) {
    auto& all = one.try_emplace(key, 1, nullptr).first->second;
    all.insert(all.end(), items.begin(), items.end());
  }
  return one;
}

constexpr engine::Instant hour_ms = 3600 * 1000;

// Returns an upper bound of the earliest restorable instant.
engine::Instant earliest_of(const ModelRecovery& recovery, engine::Instant now) {
  return std::max({recovery.since_latest, recovery.given_up, now - recovery.days * day_ms});
}

std::string target_of(bool sorted) { return sorted ? "old-visits" : "old-carts"; }

bool any_is_creating(const ModelState& state) {
  return std::any_of(state.tables.begin(), state.tables.end(),
                     [](const auto& table) { return table.second->may_be_creating(); });
}

// Converts a time in seconds, the unit in responses, to an instant.
engine::Instant instant_of(const Json& seconds) {
  return static_cast<engine::Instant>(seconds.get<double>() * 1000 + 0.5);
}

}  // namespace

void Clients::use_past() {
  if (!options_.past) return;
  away_ = false;  // each region has its own history; only the history of the home region is tested
  static constexpr void (Clients::*ways[])() = {
      &Clients::switch_recovery, &Clients::take_backup,     &Clients::take_backup,
      &Clients::drop_backup,     &Clients::restore_backup,  &Clients::restore_backup,
      &Clients::restore_instant, &Clients::restore_instant, &Clients::restore_instant};
  (this->*ways[pick(std::size(ways))])();
}

// A lower bound of the time at which a request acts; 0 if the clock can be moved back in the meantime.
engine::Instant Clients::not_before() const { return options_.whole_account ? 0 : now(); }

// --- recovery

void Clients::switch_recovery() { keep_past(pick_table(), pick(4) != 0); }

void Clients::keep_past(const std::string& table, bool on) {
  const std::int64_t days = pick(2) == 0 ? 35 : 1 + static_cast<std::int64_t>(pick(3));
  Json specification{{"PointInTimeRecoveryEnabled", on}};
  if (on && days != 35) specification["RecoveryPeriodInDays"] = days;
  const Json body{{"TableName", table}, {"PointInTimeRecoverySpecification", specification}};
  const engine::Instant begun = not_before();
  struct GivesUp {
    engine::Instant before = 0, kept_ms = 0;
  };
  const auto gives_up = std::make_shared<GivesUp>();
  Request request{.text = "UpdateContinuousBackups " + body.dump()};
  if (!on) request.removes = "recovery of " + table;
  request.change = [=](ModelState& state) {
    if (state.find(table) == nullptr) return;
    ModelTable& edited = state.edit(table);
    if (!on) {
      edited.recovery.reset();
    } else if (!edited.recovery) {
      edited.recovery = ModelRecovery{.since_earliest = begun, .since_latest = unknown, .days = days};
    } else {
      // A longer period does not bring back instants that a shorter period gave up. The exact bound is
      // set below.
      const engine::Instant kept_ms = std::min(days, edited.recovery->days) * day_ms;
      edited.recovery->since_earliest = std::max(edited.recovery->since_earliest, begun - kept_ms);
      gives_up->before = edited.recovery->given_up;
      gives_up->kept_ms = kept_ms;
      edited.recovery->given_up = unknown;
      edited.recovery->days = days;
    }
  };
  const Answer answer = run(std::move(request), [&] { return ask("UpdateContinuousBackups", body); });
  if (answer.status == 200) {
    const engine::Instant end = now();  // first, because other threads can run before the model is read
    if (const ModelTable* const kept = model_.state().find(table);
        kept != nullptr && kept->recovery && kept->recovery->given_up == unknown) {
      ModelState next = model_.state();
      next.edit(table).recovery->given_up = std::max(gives_up->before, end - gives_up->kept_ms);
      model_.became(std::move(next));
    }
    model_.happened_by(table, end);
  } else if (!(options_.faults && answer.status == 500) &&
             !model_.ever(mine(), now(), [&](const ModelState& state, engine::Instant) {
               return state.find(table) == nullptr || state.find(table)->may_be_creating();
             })) {
    say_wrong("recovery could have been switched", answer);
  }
  if (answer.status == 400 && mine().differs) say_wrong("rejected, but recovery was switched", answer);
  finish();
}

// --- backups

void Clients::take_backup() {
  const std::string table = pick_table();
  const std::string name = "b-" + std::to_string(values_ / 1'000'000) + "-" + std::to_string(++backups_);
  const Json body{{"TableName", table}, {"BackupName", name}};
  const auto backup = std::make_shared<ModelBackup>();
  backup->earliest = not_before();
  Request request{.text = "CreateBackup " + body.dump()};
  request.backup = backup;
  request.backup_of = table;
  request.change = [=](ModelState& state) {
    if (backup->table != nullptr) state.backups[name] = backup;
  };
  const Answer answer = run(std::move(request), [&] { return ask("CreateBackup", body); });
  if (answer.status == 200) {
    const Json& details = answer.body.at("BackupDetails");
    const engine::Instant at = instant_of(details.at("BackupCreationDateTime"));
    backup->arn = details.at("BackupArn").get<std::string>();
    if (at < backup->earliest || (at > now() && !options_.whole_account))
      say_wrong("the backup's time is not within the request", answer);
    backup->earliest = backup->latest = at;
    if (!mine().changed) say_wrong("acknowledged, but no backup was taken", answer);
  } else {
    backup->latest = now();
    if (mine().differs && answer.status == 400) say_wrong("rejected, but a backup was taken", answer);
    const bool is_full = options_.history_bytes_max != 0 && answer.type == "LimitExceededException";
    if (!is_full && !(options_.faults && answer.status == 500) &&
        !model_.ever(mine(), now(), [&](const ModelState& state, engine::Instant) {
          return state.find(table) == nullptr || state.find(table)->may_be_creating();
        }))
      say_wrong("a backup could have been taken", answer);
  }
  finish();
}

void Clients::drop_backup() {
  const auto& all = model_.state().backups;
  if (all.empty()) return;
  const auto chosen = std::next(all.begin(), static_cast<std::ptrdiff_t>(pick(all.size())));
  const std::string name = chosen->first;
  const auto backup = chosen->second;
  if (backup->arn.empty() || backup->system) return;
  Request request{.text = "DeleteBackup " + name};
  request.change = [=](ModelState& state) { state.backups.erase(name); };
  const Answer answer = run(std::move(request), [&] {
    return ask("DeleteBackup", {{"BackupArn", backup->arn}});
  });
  const auto ever = [&](const auto& right) { return model_.ever(mine(), now(), right); };
  if (answer.status == 200) {
    if (!mine().changed) say_wrong("acknowledged, but no backup was deleted", answer);
  } else if (answer.type == "BackupNotFoundException") {
    if (!ever([&](const ModelState& state, engine::Instant) { return !state.backups.contains(name); }))
      say_wrong("the backup existed", answer);
  } else if (answer.type == "BackupInUseException") {
    if (!ever([](const ModelState& state, engine::Instant) { return any_is_creating(state); }))
      say_wrong("the backup was not in use", answer);
  } else if (!(options_.faults && answer.status == 500)) {
    say_wrong("unexpected response", answer);
  }
  finish();
}

// --- restores

void Clients::makes_table(Request& request, const std::string& target,
                          std::shared_ptr<const ModelTable> source,
                          std::function<Candidates(const ModelState&)> candidates) {
  request.change = [this, target, source = std::move(source),
                    candidates = std::move(candidates)](ModelState& state) {
    // A snapshot may have contained the table while the table was half restored. The database may have
    // removed such a table, which makes its name available.
    if (const ModelTable* const present = state.find(target); present != nullptr && !present->may_be_removed)
      return;
    ModelTable made{.name = target,
                    .sorted = source->sorted,
                    .by_user = source->by_user,
                    .by_n = source->by_n,
                    .number = model_.next_number(),
                    .awaited = candidates(state)};
    state.tables[target] = std::make_shared<const ModelTable>(std::move(made));
  };
}

void Clients::judge_restore(
    const Answer& answer, const std::string& target,
    const std::function<bool(const ModelState&, engine::Instant)>& refused_for_source) {
  const auto ever = [&](const auto& right) { return model_.ever(mine(), now(), right); };
  if (answer.status == 200) {
    if (!mine().changed) return say_wrong("acknowledged, but no table was created", answer);
    // The restored table's indexes were determined before the table was created.
    const Json indexes = answer.body["TableDescription"].value("GlobalSecondaryIndexes", Json::array());
    const bool by_user = !indexes.empty();
    if (const ModelTable* const made = model_.state().find(target);
        made != nullptr && made->awaited && made->by_user != by_user) {
      ModelState next = model_.state();
      next.edit(target).by_user = by_user;
      model_.became(std::move(next));
    }
  } else if (answer.type == "TableAlreadyExistsException" || answer.type == "TableInUseException") {
    if (!ever([&](const ModelState& state, engine::Instant) { return state.find(target) != nullptr; }))
      say_wrong("no table had that name", answer);
  } else if (!(options_.faults && answer.status == 500) && !ever(refused_for_source)) {
    say_wrong("it could have been restored", answer);
  }
  if (answer.status == 400 && mine().differs) say_wrong("rejected, but a table was created", answer);
}

void Clients::restore_backup() {
  const auto& all = model_.state().backups;
  if (all.empty()) return;
  const auto chosen = std::next(all.begin(), static_cast<std::ptrdiff_t>(pick(all.size())));
  const std::string name = chosen->first;
  const auto backup = chosen->second;
  if (backup->arn.empty() || backup->latest == unknown) return;
  const std::string target = target_of(backup->table->sorted);
  Request request{.text = "RestoreTableFromBackup " + name + " to " + target};
  makes_table(request, target, backup->table, [backup](const ModelState&) {
    Candidates shown;
    const ModelTable& table = *backup->table;
    for (const auto& [key, item] : table.items) {
      auto& of_key = shown[key];
      const auto fired = fires(table, *item);
      if (!fired || *fired > backup->earliest) of_key.push_back(item);
      if (fired && *fired <= backup->latest) of_key.push_back(nullptr);
    }
    return shown;
  });
  const Json body{{"BackupArn", backup->arn}, {"TargetTableName", target}};
  const Answer answer = run(std::move(request), [&] { return ask("RestoreTableFromBackup", body); });
  judge_restore(answer, target, [&](const ModelState& state, engine::Instant at) {
    if (answer.type == "BackupNotFoundException")
      return !state.backups.contains(name) ||
             (backup->system && at >= backup->earliest + compat::backups::system_lifetime_ms);
    return answer.type == "BackupInUseException" && any_is_creating(state);
  });
  finish();
}

void Clients::restore_instant() {
  const std::string source = pick_table();
  const std::shared_ptr<const ModelTable> before =
      model_.state().find(source) == nullptr ? nullptr : model_.state().tables.at(source);
  if (before == nullptr) return;
  if (!before->recovery && pick(8) != 0) return keep_past(source, true);
  const engine::Instant begun = now();
  // An instant that can be restored, or one near the ends of the recoverable period or near a commit.
  engine::Instant first = begun - 3 * day_ms;
  if (before->recovery && pick(8) != 0)
    first = std::max(before->recovery->since_earliest, begun - before->recovery->days * day_ms);
  const engine::Instant last = begun - 1 - (pick(8) == 0 ? 0 : options_.recovery_lag_ms);
  const auto back = static_cast<engine::Instant>(
      pick(pick(4) == 0 ? static_cast<std::uint64_t>(std::max<engine::Instant>(last - first, 1)) : 3000));
  engine::Instant at = pick(4) == 0 ? first + back - 1500 : last - back;
  if (!before->versions.empty() && pick(2) == 0) {
    const auto near =
        before->versions.size() - 1 - pick(std::min<std::uint64_t>(before->versions.size(), 30));
    at = std::min(before->versions[near].latest - static_cast<engine::Instant>(pick(3) == 0), begun - 1);
  }
  const std::string target = target_of(before->sorted);
  const Json body{{"SourceTableName", source},
                  {"TargetTableName", target},
                  {"RestoreDateTime", static_cast<double>(at) / 1000}};
  Request request{.text = "RestoreTableToPointInTime " + body.dump()};
  const engine::Instant lag = options_.recovery_lag_ms;
  const bool is_bounded = options_.history_bytes_max != 0;
  makes_table(request, target, before, [=, this](const ModelState& state) {
    const ModelTable* const present = state.find(source);
    const auto shown_of = [&](const ModelTable& table) {
      // The first restorable second can begin before recovery was enabled. A restore to that second restores
      // the first restorable instant. If instants were given up, the first restorable second can be anywhere.
      const bool first =
          table.recovery && (at <= earliest_of(*table.recovery, begun + hour_ms) || is_bounded);
      return shown_then(table, at, first ? at + 999 : at);
    };
    Candidates shown = shown_of(*before);
    if (present != nullptr) shown = joined(std::move(shown), shown_of(*present));
    model_.add_half_told(shown, source, at + 999);
    return shown;
  });
  const Answer answer = run(std::move(request), [&] { return ask("RestoreTableToPointInTime", body); });
  const auto is_out = [&](const ModelTable& table, engine::Instant now) {
    if (is_bounded) return true;  // the instant may have been given up
    return at < earliest_of(*table.recovery, now) || at > (lag == 0 ? now : whole_second(now - lag));
  };
  if (answer.status == 200) {
    const bool could = model_.ever(mine(), now(), [&](const ModelState& state, engine::Instant now) {
      const ModelTable* const table = state.find(source);
      if (table == nullptr || !table->recovery || table->is_creating()) return false;
      const engine::Instant earliest = whole_second(
          std::max(table->recovery->since_earliest, std::min(now, begun) - table->recovery->days * day_ms));
      // If all but the latest instants have been given up, the first restorable second is also the last one.
      const engine::Instant latest_first = is_bounded ? now : std::min(table->recovery->since_latest, now);
      return earliest <= at &&
             at <= std::max(lag == 0 ? now : whole_second(now - lag), whole_second(latest_first));
    });
    if (!could) say_wrong("the instant was not restorable", answer);
  }
  judge_restore(answer, target, [&](const ModelState& state, engine::Instant now) {
    const ModelTable* const table = state.find(source);
    if (answer.type == "TableNotFoundException")
      return table == nullptr || table->may_be_creating() || !table->recovery || is_out(*table, now);
    if (table == nullptr) return false;
    if (answer.type == "PointInTimeRecoveryUnavailableException")
      return !table->recovery || model_.is_going("recovery of " + source);
    return answer.type == "InvalidRestoreTimeException" && table->recovery && is_out(*table, now);
  });
  finish();
}

void Clients::restore_some() {
  if (!options_.past) return;
  away_ = false;
  for (const std::string name : {"old-carts", "old-visits"})
    if (pick(2) == 0 && model_.state().find(name) != nullptr) drop_table(name);
  restore_backup();
  for (int i = 0; i < 3; ++i) restore_instant();
}

// --- old versions

// Checks that old versions are within their limit and that instants that were given up do not come back.
void Clients::check_past(const std::string& name, const ModelTable& table) {
  const engine::HistorySize& history = emulator_->database().history_size();
  const engine::HistorySize::Footprint footprint = history.footprint();
  const std::uint64_t bound =
      history.bytes_max() + history.bytes_max() / 8;  // the size is checked after this much growth
  if (static_cast<std::uint64_t>(footprint.bytes) > bound &&
      !emulator_->database().history_trimmer().points_exceed_bound())
    wrong_("old versions have " + std::to_string(footprint.bytes) + " bytes; the limit is " +
           std::to_string(history.bytes_max()));
  const auto live = emulator_->database().catalog().find(scope_, name);
  const auto restorable = live ? emulator_->database().history().restorable(*live) : std::nullopt;
  if (!restorable || options_.faults || options_.whole_account) return;  // the clock might be moved back
  engine::Instant& earliest = earliest_[table.number];
  if (restorable->earliest < earliest)
    wrong_(name + ": instants that were given up are restorable again: from " +
           std::to_string(restorable->earliest) + ", earlier from " + std::to_string(earliest));
  earliest = std::max(earliest, restorable->earliest);
}

// --- lists of backups

std::vector<Json> Clients::list_backups() {
  std::vector<Json> all;
  Json body{{"BackupType", "ALL"}, {"Limit", 2 + pick(3)}};
  for (;;) {
    const Answer page = ask("ListBackups", body);
    if (page.status != 200) {
      wrong_("ListBackups " + body.dump() + " -> " + page.text);
      return all;
    }
    for (const Json& one : page.body.at("BackupSummaries")) all.push_back(one);
    if (!page.body.contains("LastEvaluatedBackupArn")) return all;
    body["ExclusiveStartBackupArn"] = page.body["LastEvaluatedBackupArn"];
  }
}

void Clients::look_at_backups() {
  ModelState found = model_.state();
  const auto& doubtful = model_.doubtful_backups();
  std::map<std::string, Json> listed;
  std::vector<Json> system;
  for (const Json& one : list_backups()) {
    if (one.at("BackupType") == "SYSTEM") {
      system.push_back(one);
    } else {
      listed[one.at("BackupName").get<std::string>()] = one;
    }
  }
  const auto is_listed = [&](const std::string& name, const ModelBackup& backup) {
    if (!backup.system) return listed.contains(name);
    return std::any_of(system.begin(), system.end(), [&](const Json& one) {
      const engine::Instant at = instant_of(one.at("BackupCreationDateTime"));
      return backup.table != nullptr && one.at("TableName") == backup.table->name && backup.earliest <= at &&
             at <= backup.latest;
    });
  };
  for (const auto& [name, backup] : doubtful) {
    if (is_listed(name, *backup) && backup->table != nullptr) {
      found.backups[name] = backup;
      if (!backup->system) {
        backup->arn = listed[name].at("BackupArn").get<std::string>();
        backup->earliest = backup->latest = instant_of(listed[name].at("BackupCreationDateTime"));
      }
    } else {
      found.backups.erase(name);
    }
  }
  model_.became(std::move(found));
  check_backups();
}

void Clients::check_backups() {
  std::set<std::string> expected, found;
  std::multiset<std::string> possible_system, certain_system;
  for (const auto& [name, backup] : model_.state().backups) {
    if (!backup->system) {
      expected.insert(name);
      continue;
    }
    const engine::Instant end = compat::backups::system_lifetime_ms;
    if (now() < std::min(backup->latest, now()) + end) possible_system.insert(backup->table->name);
    if (now() < backup->earliest + end) certain_system.insert(backup->table->name);
  }
  std::multiset<std::string> system;
  for (const Json& one : list_backups()) {
    if (one.at("BackupType") == "SYSTEM") {
      system.insert(one.at("TableName").get<std::string>());
    } else {
      found.insert(one.at("BackupName").get<std::string>());
    }
  }
  const auto print = [](const auto& names) {
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  };
  if (found != expected) wrong_("the backups are" + print(found) + ", not" + print(expected));
  if (!std::includes(system.begin(), system.end(), certain_system.begin(), certain_system.end()) ||
      !std::includes(possible_system.begin(), possible_system.end(), system.begin(), system.end()))
    wrong_("the SYSTEM backups are" + print(system) + ", not" + print(certain_system));
}

}  // namespace mayfly::testing
