// Crashes in the model: finds the state that a reopened database is in, and what the model then knows about
// it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/model.h"
#include "tests/simulation/model_items.h"

namespace mayfly::testing {

void Model::begin_life() {
  states_.erase(states_.begin(), states_.end() - 1);
  forgotten_ = 0;
  requests_.clear();
  in_doubt_.clear();
  writer_.reset();
  commit_.clear();
  keeps_all_ = true;
  lags_.clear();
  seen_.clear();
  seen_by_all_ = 0;
  begun_.clear();
  versions_before_.clear();
  for (const auto& [name, table] : state().tables) versions_before_[table->number] = table->versions.size();
}

const ModelTable* Model::as_it_was(std::size_t state, const ModelTable& found) const {
  // Several tables may have had this name, one after the other.
  const auto in = [&](std::size_t other) {
    const ModelTable* const table = states_[other].find(found.name);
    return table != nullptr && is_same_table(*table, found) ? table : nullptr;
  };
  for (std::size_t away = 0; away < states_.size(); ++away) {
    if (const auto* const before = away <= state ? in(state - away) : nullptr) return before;
    if (const auto* const after = state + away < states_.size() ? in(state + away) : nullptr) return after;
  }
  return nullptr;
}

void Model::carry_over(const ModelState& before, std::size_t state, ModelState& found, engine::Instant now,
                       MayLose may_lose) {
  bool in_doubt = may_lose.commits || may_lose.time;
  ModelState made = before;  // with the changes of the requests in doubt
  for (const Request& request : in_doubt_) {
    if (!request.change || request.changed) continue;
    in_doubt = true;
    const ModelState others = made;
    request.change(made);
    made.tables.insert(others.tables.begin(), others.tables.end());
  }
  for (const auto& [name, ignored] : ModelState(found).tables) {
    ModelTable& table = found.edit(name);
    const ModelTable* was = before.find(name);
    if (was == nullptr || !is_same_table(*was, table)) was = as_it_was(state, table);
    if (was == nullptr) was = made.find(name);
    if (was != nullptr && !is_same_table(*was, table)) was = nullptr;
    if (was == nullptr) {
      table.number = next_number();
      continue;
    }
    table.number = was->number;
    table.versions = was->versions;
    engine::Instant after = 0;
    for (const ModelVersion& version : table.versions) after = std::max(after, version.earliest);
    if (may_lose.commits || may_lose.time) {
      const auto first = versions_before_.find(table.number);
      const bool all = may_lose.time || first == versions_before_.end();
      for (std::size_t v = all ? 0 : first->second; v < table.versions.size(); ++v)
        table.versions[v].certain = false;
    }
    table.expiry_changed = in_doubt ? now : was->expiry_changed;
    if (table.recovery) {
      const bool known = was->recovery && !in_doubt;
      table.recovery->since_earliest = known ? was->recovery->since_earliest : 0;
      table.recovery->since_latest = known ? was->recovery->since_latest : may_lose.time ? unknown : now;
      table.recovery->given_up = known ? was->recovery->given_up : 0;
    }
    table.awaited = was->awaited;
    table.may_be_removed = was->may_be_removed || table.awaited.has_value();
    for (const auto& [key, item] : table.items) {
      if (const Json* const old = stored(*was, key); old != nullptr && *old == *item) continue;
      table.versions.push_back({key, after, std::max(after, now), item});
      if (table.awaited) table.awaited->erase(key);
    }
    for (const auto& [key, item] : was->items)
      if (!table.items.contains(key)) table.versions.push_back({key, after, std::max(after, now), nullptr});
    // If the model had already removed the replica, take the arrived writes from the last state that had it.
    const ModelTable* joined = was;
    if (joined->replica != table.replica) {
      const auto had_it = [&](const ModelState& state) {
        const ModelTable* const then = state.find(table.name);
        return then != nullptr && is_same_table(*then, table) && then->replica == table.replica;
      };
      const auto last = std::find_if(states_.rbegin(), states_.rend(), had_it);
      if (last != states_.rend()) joined = last->find(name);
    }
    carry_over_replica(found, name, *joined);
  }
  forget_arrived(found);
  found.backups = before.backups;
  doubtful_backups_.clear();
  for (const auto& [name, backup] : made.backups)
    if (!before.backups.contains(name)) doubtful_backups_[name] = backup;
  for (const auto& [name, backup] : before.backups)
    if (may_lose.commits || !made.backups.contains(name)) doubtful_backups_[name] = backup;
  if (!may_lose.commits) return;
  for (const ModelState& state : states_)
    doubtful_backups_.insert(state.backups.begin(), state.backups.end());
}

// Whether each item has the same records as before, plus one if the item has changed.
bool Model::records_follow(const ModelTable& before, const ModelTable& found, engine::Instant now) {
  std::map<std::string, std::vector<const ModelRecord*>> old_records, new_records;
  for (const ModelRecord* record : readable(before.records, now)) old_records[record->key].push_back(record);
  for (const ModelRecord* record : readable(found.records, now)) new_records[record->key].push_back(record);
  for (const auto& [key, records] : old_records) new_records[key];
  return std::all_of(new_records.begin(), new_records.end(), [&](const auto& of_key) {
    const auto& [key, records] = of_key;
    const auto& old = old_records[key];
    const bool begins_so =
        old.size() <= records.size() &&
        std::equal(old.begin(), old.end(), records.begin(),
                   [](const ModelRecord* one, const ModelRecord* other) { return *one == *other; });
    const Json was = copy_of(stored(before, key)), is = copy_of(stored(found, key));
    if (!begins_so || records.size() - old.size() != (was == is ? 0 : 1)) return false;
    return was == is || (records.back()->old_image == was && records.back()->new_image == is);
  });
}

// The model is notified of a change to a table some time after the change was written, and other requests may
// have committed in the meantime. If a change to a table and a commit to another table are written at the
// same time, they can be reported in either order.
bool Model::was_near(std::size_t state, const std::string& name,
                     const std::function<bool(const ModelTable*)>& right) const {
  constexpr int reach = 3;
  std::size_t first = state, end = state + 1;
  for (int away = 0; away < reach && first > 0; --first) away += states_[first - 1].within_batch ? 0 : 1;
  for (int away = 0; away < reach && end < states_.size(); ++end) away += states_[end].within_batch ? 0 : 1;
  const auto may_be_written = [&](const auto& change) {
    const auto& [told, begun] = change;
    return begun <= state && state < told && right(states_[told].find(name));
  };
  if (std::any_of(begun_.begin(), begun_.end(), may_be_written)) return true;
  return std::any_of(states_.begin() + static_cast<std::ptrdiff_t>(first),
                     states_.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const ModelState& near) { return right(near.find(name)); });
}

bool Model::is_just(const ModelState& state, const ModelState& found, engine::Instant now) {
  return same(state, found) && departures_follow(state, found) &&
         std::all_of(found.tables.begin(), found.tables.end(), [&](const auto& each) {
           return !each.second->streamed || records_follow(*state.find(each.first), *each.second, now);
         });
}

// If `found` is the state plus one commit of a request in doubt or of the service, returns the state with
// that commit's changes to tables and backups, but not to items. Otherwise returns nullopt.
std::optional<ModelState> Model::followed(std::size_t state, const ModelState& found,
                                          engine::Instant now) const {
  if (const auto changed = changed_in_doubt(state, found)) return changed;
  return follows(state, found, now) ? std::optional(states_[state]) : std::nullopt;
}

std::optional<ModelState> Model::changed_in_doubt(std::size_t state, const ModelState& found) const {
  for (const Request& request : in_doubt_) {
    if (!request.change || request.changed) continue;
    ModelState changed = states_[state];
    request.change(changed);
    if (same(changed, found) && departures_follow(changed, found)) return changed;
  }
  return std::nullopt;
}

bool Model::follows(std::size_t state, const ModelState& found, engine::Instant now) const {
  const ModelState& before = states_[state];
  std::vector<std::pair<std::string, std::string>> differences;
  for (const auto& [name, table] : before.tables) {
    const ModelTable* const other = found.find(name);
    if (other != nullptr && !is_same_table(*table, *other)) return false;
    if (other == nullptr) {
      // The table may not have been created yet.
      if (table->awaited) continue;  // the table was removed, because its source is gone
      if (table->items.empty() &&
          was_near(state, name, [](const ModelTable* near) { return near == nullptr; }))
        continue;
      return false;
    }
    const auto has_its_settings = [&](const ModelTable* near) {
      return near != nullptr && same_settings(*near, *other);
    };
    if (!was_near(state, name, has_its_settings)) return false;
    if (table->streamed && !records_follow(*table, *other, now)) return false;
    for (const auto& [key, item] : table->items)
      if (stored(*other, key) == nullptr || *stored(*other, key) != *item)
        differences.emplace_back(name, key);
    for (const auto& [key, item] : other->items)
      if (stored(*table, key) == nullptr) differences.emplace_back(name, key);
  }
  for (const auto& [name, table] : found.tables) {
    const ModelTable& there = *table;
    const auto is_it = [&there](const ModelTable* near) {
      return near != nullptr && same_settings(*near, there) && same_items(*near, there);
    };
    // The table may not have been deleted yet.
    if (before.find(name) == nullptr && !was_near(state, name, is_it)) return false;
  }
  if (!departures_follow(before, found)) return false;
  const auto is_brought_back = [&](const auto& difference) {
    const ModelTable& table = *before.find(difference.first);
    const Json* const item = stored(*found.find(difference.first), difference.second);
    if (!table.awaited || item == nullptr) return false;
    const auto awaited = table.awaited->find(difference.second);
    return awaited != table.awaited->end() &&
           std::any_of(awaited->second.begin(), awaited->second.end(),
                       [&](const auto& one) { return one != nullptr && *one == *item; });
  };
  const auto is_removed_by_service = [&](const auto& difference) {
    const ModelTable& table = *before.find(difference.first);
    const Json* const item = stored(table, difference.second);
    const auto due = item == nullptr ? std::nullopt : due_of(*item);
    // A request that writes to an expired item of another region first removes that item.
    const auto is_met_by = [&](const Request& request) {
      return std::any_of(request.intents.begin(), request.intents.end(), [&](const ItemIntent& intent) {
        return intent.table == difference.first && intent.key == difference.second;
      });
    };
    return table.expires && due && *due <= now &&
           stored(*found.find(difference.first), difference.second) == nullptr &&
           (expires_here(table, difference.second) ||
            std::any_of(in_doubt_.begin(), in_doubt_.end(), is_met_by));
  };
  const auto explains_whole = [&](const Request& request, const auto& difference) {
    const auto is_found = [&](const ItemIntent& intent) {
      const ModelTable* const table = before.find(intent.table);
      if (table == nullptr || found.find(intent.table) == nullptr) return false;
      const Json* const there = stored(*found.find(intent.table), intent.key);
      // The item as it was visible then, or as it is visible now.
      const Json* const seen[] = {stored(*table, intent.key), visible(*table, intent.key, now)};
      return std::any_of(std::begin(seen), std::end(seen), [&](const Json* old) {
        const ItemIntent::Effect effect = intent.effect(old);
        return !effect.refused &&
               (effect.item ? there != nullptr && *there == *effect.item : there == nullptr);
      });
    };
    const auto named = [&](const ItemIntent& intent) {
      return intent.table == difference.first && intent.key == difference.second;
    };
    const auto& intents = request.intents;
    const auto intent = std::find_if(intents.begin(), intents.end(), named);
    if (intent == intents.end() || intent->told || !is_found(*intent)) return false;
    return !request.together || std::all_of(intents.begin(), intents.end(), is_found);
  };
  const auto has_arrived = [&](const auto& difference) {
    return is_arriving(*before.find(difference.first), difference.second,
                       stored(*found.find(difference.first), difference.second));
  };
  return std::all_of(differences.begin(), differences.end(), [&](const auto& difference) {
    return has_arrived(difference) || is_removed_by_service(difference) || is_brought_back(difference) ||
           std::any_of(in_doubt_.begin(), in_doubt_.end(),
                       [&](const Request& request) { return explains_whole(request, difference); });
  });
}

namespace {

std::string print_settings(const ModelTable& table) {
  return "table " + std::to_string(table.id) + (table.by_user ? " by_user" : "") +
         (table.by_n ? " by_n" : "") + (table.streamed ? " streamed" : "") +
         (table.copying ? " copying" : "") + (table.expires ? " expires" : "") + " mode " +
         std::to_string(static_cast<int>(table.mode.kind)) +
         (table.recovery ? " recovery " + std::to_string(table.recovery->days) : "") + " " + table.replica;
}

}  // namespace

std::string Model::differences_of(const ModelState& before, const ModelState& found) {
  std::string text;
  for (const auto& [name, table] : found.tables) {
    const ModelTable* const was = before.find(name);
    text += "\n  " + name +
            (was == nullptr ? " did not exist"
             : same_settings(*was, *table)
                 ? ""
                 : " is " + print_settings(*table) + " instead of " + print_settings(*was));
    if (was == nullptr) continue;
    for (const auto& [key, item] : was->items)
      if (stored(*table, key) == nullptr || *stored(*table, key) != *item)
        text += "\n    " + key + " is " + copy_of(stored(*table, key)).dump() + " instead of " + item->dump();
    for (const auto& [key, item] : table->items)
      if (stored(*was, key) == nullptr) text += "\n    " + key + " is " + item->dump() + " instead of null";
    if (!is_same_table(*was, *table)) text += "\n    (another table with this name)";
    for (const auto& [whose, all] : {std::pair("stored", table->stored_arriving), {"known", was->arriving}})
      for (const ModelDeparture& each : all)
        text += std::string("\n    in flight, ") + whose + ": " + each.key + " " +
                std::to_string(each.number) + " " + copy_of(each.item.get()).dump();
  }
  for (const auto& [name, table] : before.tables)
    if (found.find(name) == nullptr) text += "\n  " + name + " is missing";
  return text;
}

bool Model::may_be_rewound() const {
  const auto rewinds = [](const Request& request) {
    return request.text == "reset" || request.text.starts_with("restore ");
  };
  return std::any_of(in_doubt_.begin(), in_doubt_.end(), rewinds) ||
         std::any_of(requests_.begin(), requests_.end(),
                     [&](const auto& request) { return rewinds(request.second); });
}

void Model::recovered(ModelState found, engine::Instant now, MayLose may_lose) {
  for (auto& [thread, request] : requests_) in_doubt_.push_back(request);
  // An earlier state that matches exactly is preferred to a later state plus a commit that was not reported.
  const std::size_t last = states_.size() - 1;
  std::optional<std::size_t> as_it_is;
  for (std::size_t state = states_.size(); state-- > (may_lose.commits ? 0 : last) && !as_it_is;)
    if (!states_[state].within_batch && is_just(states_[state], found, now)) as_it_is = state;
  for (std::size_t state = as_it_is.value_or(last) + 1; state-- > 0;) {
    if (states_[state].within_batch) continue;
    if (const std::optional<ModelState> before = as_it_is ? states_[state] : followed(state, found, now)) {
      trace_.push_back("reopened as of commit " + std::to_string(state) + " of " +
                       std::to_string(states_.size() - 1) + differences_of(*before, found));
      // Adds changes that were committed but not reported.
      for (const auto& [name, table] : found.tables) {
        for (const ModelRecord& record : table->records) {
          const auto& known = histories_[name][record.key];
          const std::string printed =
              print_record(record.event, record.by_service, record.old_image, record.new_image);
          if (std::find(known.begin(), known.end(), printed) == known.end()) note(name, record);
        }
      }
      carry_over(*before, state, found, now, may_lose);
      became(std::move(found));
      return begin_life();
    }
    if (!may_lose.commits) break;
  }
  std::string nearest;
  for (auto state = states_.rbegin(); state != states_.rend(); ++state) {
    std::string text = differences_of(*state, found);
    if (nearest.empty() || text.size() < nearest.size()) nearest = std::move(text);
    if (!may_lose.commits) break;
  }
  wrong_("the reopened database does not contain what was written" + nearest);
}

}  // namespace mayfly::testing
