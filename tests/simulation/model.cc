#include "tests/simulation/model.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/background/history_size.h"
#include "engine/items/item_reader.h"
#include "engine/schema/expiry_mode.h"
#include "engine/values/item_codec.h"
#include "tests/simulation/model_items.h"

namespace mayfly::testing {
namespace {

Json json_of(std::string_view stored) {
  if (stored.empty()) return nullptr;
  std::string text;
  json::Writer out(text);
  compat::write_item_object(out, engine::decode_item(stored));
  return Json::parse(text);
}

}  // namespace

const ModelTable* ModelState::find(const std::string& table) const {
  const auto found = tables.find(table);
  return found == tables.end() ? nullptr : found->second.get();
}

ModelTable& ModelState::edit(const std::string& table) {
  auto copy = std::make_shared<ModelTable>(*tables.at(table));
  ModelTable& edited = *copy;
  tables[table] = std::move(copy);
  return edited;
}

std::string model_key(bool sorted, const Json& item) {
  std::string key = item.at("id").at("S").get<std::string>();
  if (sorted) key += "/" + item.at("at").at("N").get<std::string>();
  return key;
}

std::optional<engine::Instant> due_of(const Json& item) {
  const auto ttl = item.find("ttl");
  if (ttl == item.end()) return std::nullopt;
  // The item still exists in the first millisecond of the second that its TTL names.
  return std::stoll(ttl->at("N").get<std::string>()) * 1000 + 1;
}

std::optional<engine::Instant> fires(const ModelTable& table, const Json& item) {
  const auto due = due_of(item);
  if (!due || !table.expires) return std::nullopt;
  engine::Table described;
  described.name = table.name.substr(0, table.name.find('@'));  // fires_at() uses the name without the region
  described.expiry = table.mode;
  const engine::Instant at = engine::fires_at(described, *due);
  return at == engine::never ? std::nullopt : std::optional(at);
}

std::string print_record(const std::string& event, bool by_service, const Json& old_image,
                         const Json& new_image) {
  return event + (by_service ? " by the service " : " ") + old_image.dump() + " -> " + new_image.dump();
}

std::vector<const ModelRecord*> readable(const std::vector<ModelRecord>& records, engine::Instant now) {
  constexpr engine::Instant day_ms = 24 * 3600 * 1000;
  std::vector<const ModelRecord*> found;
  for (const ModelRecord& record : records)
    if (record.at >= now - day_ms) found.push_back(&record);
  return found;
}

const Json* visible(const ModelTable& table, const std::string& key, engine::Instant now) {
  const Json* const item = stored(table, key);
  if (item == nullptr) return item;
  const auto at = fires(table, *item);
  return at && *at <= now ? nullptr : item;
}

bool ModelTable::is_creating() const {
  return awaited && std::any_of(awaited->begin(), awaited->end(), [](const auto& of_key) {
           return std::find(of_key.second.begin(), of_key.second.end(), nullptr) == of_key.second.end();
         });
}

Candidates shown_then(const ModelTable& table, engine::Instant earliest, engine::Instant latest) {
  Candidates candidates;
  std::set<std::string> over;  // keys whose earlier versions cannot have been shown
  const auto add = [&](const std::string& key, const std::shared_ptr<const Json>& item) {
    std::vector<std::shared_ptr<const Json>>& of_key = candidates[key];
    const auto due = item == nullptr ? std::nullopt : due_of(*item);
    const auto fired = item == nullptr ? std::nullopt : fires(table, *item);
    // If the TTL settings may have been different at the time, the item may have been visible or hidden.
    const bool certain = table.expiry_changed < earliest;
    const bool gone = fired && *fired <= latest;
    const bool there = certain ? !fired || *fired > earliest : true;
    if (there) of_key.push_back(item);
    if (gone || (!certain && due && *due <= latest)) of_key.push_back(nullptr);
  };
  for (auto version = table.versions.rbegin(); version != table.versions.rend(); ++version) {
    if (version->earliest > latest || over.contains(version->key)) continue;
    add(version->key, version->item);
    if (version->certain && version->latest <= earliest) over.insert(version->key);
  }
  for (auto& [key, of_key] : candidates)
    if (!over.contains(key)) of_key.push_back(nullptr);
  return candidates;
}

// --- requests

Request& Model::begin(int thread, Request request, engine::Instant now) {
  request.begin = forgotten_ + states_.size() - 1;
  request.begin_now = now;
  for (const LagAsked& asked : lags_) request.lags.push_back(asked.lag);
  snapshots_[thread].reset();
  return requests_[thread] = std::move(request);
}

std::vector<engine::Instant> Model::instants_of(const ModelState& state, const Request& request,
                                                engine::Instant now) {
  const engine::Instant first = request.earliest(now);
  const engine::Instant last = std::max(request.begin_now, now);
  std::set<engine::Instant> instants{first, request.begin_now, now};
  for (const auto& [name, table] : state.tables)
    for (const auto& [key, item] : table->items)
      if (const auto at = fires(*table, *item); at && *at > first && *at < last) instants.insert(*at);
  return {instants.begin(), instants.end()};
}

bool Model::ever(const Request& request, engine::Instant now,
                 const std::function<bool(const ModelState&, engine::Instant)>& right) const {
  for (std::size_t i = request.begin - forgotten_; i < states_.size(); ++i) {
    if (states_[i].within_batch) continue;
    const std::vector<engine::Instant> instants = instants_of(states_[i], request, now);
    if (std::any_of(instants.begin(), instants.end(),
                    [&](engine::Instant at) { return right(states_[i], at); }))
      return true;
  }
  return false;
}

Model::LagId Model::begin_lag(const engine::Lag& lag) {
  LagAsked& asked = lags_.emplace_back(LagAsked{++last_lag_, lag, false, {}});
  for (const LagAsked& other : lags_)
    if (other.answered) asked.before.push_back(other.id);
  for (auto& [thread, request] : requests_) request.lags.push_back(lag);
  return last_lag_;
}

void Model::lag_answered(LagId id) {
  const auto asked =
      std::find_if(lags_.begin(), lags_.end(), [&](const LagAsked& one) { return one.id == id; });
  if (asked == lags_.end()) return;
  asked->answered = true;
  const std::vector<LagId> over = std::exchange(asked->before, {});
  std::erase_if(
      lags_, [&](const LagAsked& one) { return std::find(over.begin(), over.end(), one.id) != over.end(); });
}

std::size_t Model::oldest_seen(const std::string& copy) const {
  const auto seen = seen_.find(copy);
  return seen == seen_.end() ? seen_by_all_ : std::max(seen->second, seen_by_all_);
}

std::size_t Model::oldest_by(const engine::Lag& lag, const Request& request, const std::string& name,
                             std::size_t first) const {
  const ModelTable* const present = states_[request.begin - forgotten_].find(name);
  std::size_t oldest = request.begin;
  std::uint64_t overlooked = 0;
  while (present != nullptr && oldest > std::max(first, forgotten_)) {
    const ModelTable* const before = states_[oldest - 1 - forgotten_].find(name);
    if (before == nullptr || before->number != present->number || before->is_creating()) break;
    const ModelTable* const after = states_[oldest - forgotten_].find(name);
    if (before->versions.size() != after->versions.size()) {
      if (lag.writes && ++overlooked > *lag.writes) break;
      if (lag.milliseconds && after->versions.back().latest <= request.begin_now - *lag.milliseconds) break;
    }
    --oldest;
  }
  return oldest;
}

bool Model::ever_of_late(const Request& request, engine::Instant now, const std::string& name,
                         const std::string& copy, std::size_t first,
                         const std::function<bool(const ModelState&, engine::Instant)>& right) {
  const ModelTable* const present = states_[request.begin - forgotten_].find(name);
  std::size_t oldest = request.begin;
  for (const engine::Lag& lag : request.lags) oldest = std::min(oldest, oldest_by(lag, request, name, first));
  for (std::size_t i = oldest; i < forgotten_ + states_.size(); ++i) {
    ModelState state = states_[i - forgotten_];
    if (state.within_batch && (!request.may_lag || request.lags.empty())) continue;
    if (i < request.begin) {  // a read applies the table's current settings to old items
      ModelTable& table = state.edit(name);
      table.expires = present->expires;
      table.mode = present->mode;
      table.awaited = present->awaited;
    }
    const std::vector<engine::Instant> instants = instants_of(state, request, now);
    if (std::none_of(instants.begin(), instants.end(), [&](engine::Instant at) { return right(state, at); }))
      continue;
    std::size_t& seen = seen_[copy];
    seen = std::max(seen, i);
    return true;
  }
  return false;
}

void Model::end(int thread, Ended how) {
  if (how == Ended::in_doubt) in_doubt_.push_back(requests_.at(thread));
  requests_.erase(thread);
  if (keeps_all_) return;
  std::size_t oldest = forgotten_ + states_.size() - 1;
  for (const auto& [other, request] : requests_) oldest = std::min(oldest, request.begin);
  constexpr std::size_t kept = 1000;  // earlier states, for stale reads
  oldest = std::max(forgotten_, oldest - std::min(oldest, kept));
  states_.erase(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(oldest - forgotten_));
  forgotten_ = oldest;
}

// --- events

void Model::told(const engine::Change& change, int thread, const std::optional<ModelWrite>& write) {
  Told told{.table = model_name(*change.table),
            .key = {},
            .kind = change.kind,
            .whose = Whose::client,
            .by_service = change.cause == engine::Cause::time_to_live,
            .at = change.at,
            .old_image = json_of(change.old_item),
            .new_image = json_of(change.new_item)};
  if (told.by_service) {
    told.whose = Whose::service;
  } else if (write && !write->here) {
    told.whose = Whose::elsewhere;
  } else if (write && write->number % 2 == 1) {
    told.whose = Whose::met;
  }
  if (const ModelTable* const table = state().find(told.table);
      table != nullptr && table->copying && change.table->copies_from.empty()) {
    ModelState next = state();  // the copying has ended
    next.edit(told.table).copying = false;
    next.edit(told.table).streamed = true;
    became(std::move(next));
  }
  told.key = model_key(!change.table->keys.sort().empty(),
                       told.new_image.is_null() ? told.old_image : told.new_image);
  static constexpr const char* whose[] = {"", "the service: ", "from elsewhere: ", "expired elsewhere: "};
  trace_.push_back("[" + std::to_string(thread) + "]     " + whose[static_cast<int>(told.whose)] +
                   told.table + " " + told.key + " " + told.old_image.dump() + " -> " +
                   told.new_image.dump());
  commit_.push_back(std::move(told));
}

void Model::reached(std::string_view place, int thread) {
  if (place == "account replaced")
    for (auto& [other, request] : requests_) request.rewound = true;
  if (place == "commit written") {
    writer_ = thread;
    commit_.clear();
    commit_ends_.clear();
  } else if (place == "write told") {
    commit_ends_.push_back(commit_.size());
  } else if (place == "commit told") {
    writer_.reset();
    if (!commit_.empty()) apply(std::exchange(commit_, {}), commit_ends_, thread);
  } else if (place == "snapshot taken") {
    snapshots_[thread] = state();
  } else if (place == "point taken") {
    const auto request = requests_.find(thread);
    if (request != requests_.end() && request->second.backup != nullptr)
      request->second.backup->table = state().tables.at(request->second.backup_of);
  } else if (place == "table made" || place == "table changed" || place == "tables changed together" ||
             place == "account replaced" || place == "backup kept" || place == "backup erased") {
    const auto request = requests_.find(thread);
    if (request == requests_.end() || !request->second.change || request->second.changed) return;
    if (!request->second.changes_at.empty() && request->second.changes_at != place) return;
    request->second.changed = true;
    ModelState next = state();
    request->second.change(next);
    if (place != "account replaced") {  // restored tables keep their ids
      for (const auto& [name, table] : ModelState(next).tables)
        if (table->id == 0) next.edit(name).id = id_of_(name);
    }
    request->second.differs = !same(next, state()) || !same_backups(next, state());
    became(std::move(next));
    begun_[forgotten_ + states_.size() - 1] = request->second.begin;
    if (place == "account replaced") seen_by_all_ = forgotten_ + states_.size() - 1;
  }
}

void Model::add_half_told(Candidates& shown, const std::string& table, engine::Instant latest) const {
  for (const Told& change : commit_) {
    if (change.table != table || change.at > latest) continue;
    shown.try_emplace(change.key, 1, nullptr)
        .first->second.push_back(change.new_image.is_null() ? nullptr
                                                            : std::make_shared<const Json>(change.new_image));
  }
}

bool Model::is_going(const std::string& table) const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [&](const auto& request) { return request.second.removes == table; });
}

bool Model::backups_stood_still(const Request& request) const {
  const bool under_way = std::any_of(requests_.begin(), requests_.end(), [](const auto& one) {
    const std::string& text = one.second.text;
    return text.starts_with("CreateBackup") || text.starts_with("DeleteBackup");
  });
  return !under_way &&
         std::all_of(states_.begin() + static_cast<std::ptrdiff_t>(request.begin - forgotten_), states_.end(),
                     [&](const ModelState& other) { return same_backups(other, state()); });
}

void Model::happened_by(const std::string& name, engine::Instant now) {
  const ModelTable* const table = state().find(name);
  if (table == nullptr) return;
  const bool changed = table->expiry_changed == unknown;
  const bool kept = table->recovery && table->recovery->since_latest == unknown;
  const bool given_up = table->recovery && table->recovery->given_up == unknown;
  if (!changed && !kept && !given_up) return;
  ModelState next = state();
  ModelTable& edited = next.edit(name);
  if (changed) edited.expiry_changed = now;
  if (kept) edited.recovery->since_latest = now;
  if (given_up) edited.recovery->given_up = now;
  became(std::move(next));
}

void Model::note(const std::string& table, const ModelRecord& record) {
  histories_[table][record.key].push_back(
      print_record(record.event, record.by_service, record.old_image, record.new_image));
}

void Model::by_service(ModelState& state, const Told& change) {
  const ModelTable* const table = state.find(change.table);
  const Json* const item = table == nullptr ? nullptr : stored(*table, change.key);
  const auto due = item == nullptr ? std::nullopt : due_of(*item);
  if (!due || *due > change.at || !table->expires)
    return wrong_("the service removed an item that was not due: " + change.table + " " + change.key + " " +
                  copy_of(item).dump() + " at " + std::to_string(change.at));
  if (change.old_image != *item || !change.new_image.is_null())
    return wrong_("the service removed " + change.old_image.dump() + " instead of " + item->dump());
}

// When the engine takes an item's lock, it checks whether the item has fired. Time can pass between that
// check and the commit.
bool Model::explains(const Request& request, const ItemIntent& intent, const Told* change,
                     engine::Instant at) const {
  const ModelTable* const table = state().find(intent.table);
  if (table == nullptr) return false;
  // If a restore may have moved the clock back since the request began, the engine may have checked the item
  // at any time.
  const engine::Instant begin = request.earliest(at);
  const Json* const seen[] = {visible(*table, intent.key, begin), visible(*table, intent.key, at)};
  return std::any_of(std::begin(seen), std::end(seen), [&](const Json* old) {
    const ItemIntent::Effect effect = intent.effect(old);
    if (effect.refused) return false;
    const Json next = effect.item ? *effect.item : Json();
    if (change == nullptr) return next == copy_of(old);
    return !intent.told && change->new_image == next && change->old_image == copy_of(old);
  });
}

const Model::Told* Model::change_of(const ItemIntent& intent, const std::vector<Told>& commit) {
  const auto change = std::find_if(commit.begin(), commit.end(), [&](const Told& told) {
    return told.whose == Whose::client && told.table == intent.table && told.key == intent.key;
  });
  return change == commit.end() ? nullptr : &*change;
}

std::vector<Model::Told> Model::taken_in(const std::vector<Request*>& order, const std::vector<Told>& commit,
                                         std::vector<ItemIntent*>& taken) const {
  std::vector<Told> rest = commit;
  const engine::Instant at = commit.front().at;
  for (Request* const request : order) {
    const auto is_explained = [&](const ItemIntent& intent) {
      return explains(*request, intent, change_of(intent, rest), at);
    };
    if (request->together && !std::all_of(request->intents.begin(), request->intents.end(), is_explained))
      continue;
    for (ItemIntent& intent : request->intents) {
      const Told* const change = change_of(intent, rest);
      if (change == nullptr || !explains(*request, intent, change, at)) continue;
      taken.push_back(&intent);
      rest.erase(rest.begin() + (change - rest.data()));
    }
  }
  return rest;
}

std::size_t Model::half_done(const std::vector<Request*>& requests, const std::vector<ItemIntent*>& taken,
                             engine::Instant at) const {
  const auto is_taken = [&](const ItemIntent& intent) {
    return std::find(taken.begin(), taken.end(), &intent) != taken.end();
  };
  return static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(), [&](const Request* request) {
        return std::any_of(request->intents.begin(), request->intents.end(), is_taken) &&
               !std::all_of(request->intents.begin(), request->intents.end(), [&](const ItemIntent& intent) {
                 return intent.told || is_taken(intent) || explains(*request, intent, nullptr, at);
               });
      }));
}

// Whether a restore writes this item. Items that were written before a crash are written again, unchanged.
bool Model::is_awaited(ModelState& state, const Told& change) {
  const ModelTable* const table = state.find(change.table);
  if (table == nullptr || !table->awaited) return false;
  if (change.old_image == change.new_image) return true;
  const auto awaited = table->awaited->find(change.key);
  if (awaited == table->awaited->end() || !change.old_image.is_null()) return false;
  const auto is_it = [&](const auto& item) { return item != nullptr && *item == change.new_image; };
  if (std::none_of(awaited->second.begin(), awaited->second.end(), is_it)) return false;
  state.edit(change.table).awaited->erase(change.key);
  return true;
}

// A commit belongs to one request, or to several requests that share a write to disk.
void Model::apply(const std::vector<Told>& commit, const std::vector<std::size_t>& ends, int writer) {
  ModelState next = state();
  // Two requests can intend the same change. The change then usually belongs to the request that commits. If
  // that request also commits for other requests, the change can instead belong to one of those, because a
  // request may intend the change only as part of a set of changes that all apply together. So every order of
  // the requests is tried. The best order leaves the fewest changes without a request, and then the fewest
  // half-done requests.
  std::vector<Request*> order;
  if (const auto own = requests_.find(writer); own != requests_.end()) order.push_back(&own->second);
  for (auto& [thread, request] : requests_)
    if (thread != writer) order.push_back(&request);
  std::vector<std::size_t> turns(order.size());
  std::iota(turns.begin(), turns.end(), 0);
  std::vector<Told> rest;
  std::vector<ItemIntent*> taken;
  auto fewest = std::pair(commit.size() + 1, std::size_t{0});
  do {
    std::vector<Request*> turned;
    for (const std::size_t turn : turns) turned.push_back(order[turn]);
    std::vector<ItemIntent*> taken_so;
    std::vector<Told> rest_so = taken_in(turned, commit, taken_so);
    const auto without = std::count_if(rest_so.begin(), rest_so.end(),
                                       [](const Told& change) { return change.whose == Whose::client; });
    const auto left =
        std::pair(static_cast<std::size_t>(without), half_done(order, taken_so, commit.front().at));
    if (left >= fewest) continue;
    fewest = left;
    rest = std::move(rest_so);
    taken = std::move(taken_so);
  } while (fewest > std::pair(std::size_t{0}, std::size_t{0}) &&
           std::next_permutation(turns.begin(), turns.end()));
  for (ItemIntent* const intent : taken) {
    intent->told = true;
    if (const ModelTable* const table = next.find(intent->table); table != nullptr && table->is_creating())
      wrong_("a table was written while it was being restored: " + intent->table + " " + intent->key);
  }
  for (const Told& change : rest) {
    if (change.by_service || change.whose == Whose::met) {
      by_service(next, change);
    } else if (change.whose == Whose::client && !is_awaited(next, change)) {
      wrong_("no request intends this change: " + change.table + " " + change.key + " " +
             change.old_image.dump() + " -> " + change.new_image.dump());
    }
  }
  for (const Told& change : commit) {
    if (next.find(change.table) == nullptr) return wrong_("a change of a table that does not exist");
    const auto item = change.new_image.is_null() ? nullptr : std::make_shared<const Json>(change.new_image);
    replicate(next, change.table, change.key, change.whose, item);
    ModelTable& table = next.edit(change.table);
    const Json* const old = stored(table, change.key);
    if (copy_of(old) != change.old_image)
      wrong_("the old image is " + change.old_image.dump() + " instead of " + copy_of(old).dump());
    static constexpr const char* events[] = {"INSERT", "MODIFY", "REMOVE"};
    const ModelRecord record{events[static_cast<int>(change.kind)],
                             change.key,
                             change.by_service,
                             change.old_image,
                             change.new_image,
                             change.at};
    note(change.table, record);
    if (table.streamed) table.records.push_back(record);
    table.versions.push_back({change.key, change.at, change.at, item});
    if (item == nullptr) {
      table.items.erase(change.key);
    } else {
      table.items[change.key] = item;
    }
    const auto told = static_cast<std::size_t>(&change - commit.data()) + 1;
    if (told == commit.size() || std::find(ends.begin(), ends.end(), told) == ends.end()) continue;
    next.within_batch = true;
    became(next);
    next.within_batch = false;
  }
  became(std::move(next));
}

}  // namespace mayfly::testing
