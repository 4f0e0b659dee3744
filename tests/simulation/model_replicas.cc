// Global tables in the model: writes in flight between two regions. The last write prevails.
#include <algorithm>
#include <set>

#include "tests/simulation/model.h"
#include "tests/simulation/model_items.h"

namespace mayfly::testing {
namespace {

std::uint64_t number_of(const ModelTable& table, const std::string& key) {
  const auto write = table.writes.find(key);
  return write == table.writes.end() ? 0 : write->second.number;
}

std::string suffix_away() { return "@" + std::string(away_region); }

}  // namespace

std::string model_name(const engine::Table& table) {
  return table.region == home_region ? table.name : table.name + "@" + table.region;
}

std::string other_name(const std::string& name) {
  const std::string suffix = suffix_away();
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name + suffix;
}

bool expires_here(const ModelTable& table, const std::string& key) {
  const auto write = table.writes.find(key);
  return table.replica.empty() || write == table.writes.end() || write->second.here;
}

bool Model::wins(const ModelTable& table, const ModelDeparture& departure) {
  const bool was_never_here = !table.items.contains(departure.key) && !table.writes.contains(departure.key);
  return was_never_here || departure.number > number_of(table, departure.key);
}

bool Model::is_arriving(const ModelTable& table, const std::string& key, const Json* item) {
  return std::any_of(table.arriving.begin(), table.arriving.end(), [&](const ModelDeparture& departure) {
    return departure.key == key && same_item(departure.item.get(), item) && wins(table, departure);
  });
}

void Model::replicate(ModelState& state, const std::string& name, const std::string& key, Whose whose,
                      const std::shared_ptr<const Json>& item) {
  if (state.find(name)->replica.empty()) {
    if (whose == Whose::elsewhere)
      wrong_("a write from another region to a table that is not global: " + name + " " + key);
    return;
  }
  ModelTable& table = state.edit(name);
  if (whose != Whose::elsewhere) {
    const bool expired = whose == Whose::service || whose == Whose::met;
    const bool here = expires_here(table, key);
    if (expired && here != (whose == Whose::service))
      wrong_("the service removed an item that expires in another region, or the other way round: " + name +
             " " + key);
    const std::uint64_t number = expired ? number_of(table, key) | 1 : 2 * ++last_write_;
    table.writes[key] = {number, true};
    if ((!expired || here) && state.find(table.replica) != nullptr) {
      ModelTable& other = state.edit(table.replica);
      other.arriving.push_back({key, item, number, other.copying});
    }
    return;
  }
  const auto it = std::find_if(table.arriving.begin(), table.arriving.end(), [&](const ModelDeparture& each) {
    return each.key == key && same_item(each.item.get(), item.get()) && wins(table, each);
  });
  if (it == table.arriving.end()) return wrong_("no write in flight makes this change: " + name + " " + key);
  // Earlier writes must have arrived without changing anything. A copied item may include a later write.
  for (auto earlier = table.arriving.begin(); earlier != it; ++earlier) {
    if (earlier->key == key && !earlier->copying && wins(table, *earlier) &&
        !same_item(earlier->item.get(), stored(table, key)))
      wrong_("an earlier write did not arrive: " + name + " " + key);
  }
  const std::uint64_t number = it->number;
  // A write that the copy already included can still arrive. It then changes nothing.
  const auto is_over = [&](const ModelDeparture& each) {
    return each.key == key && (!each.copying || each.number == 0);
  };
  table.arriving.erase(std::remove_if(table.arriving.begin(), it + 1, is_over), it + 1);
  table.writes[key] = {number, false};
}

// `found` comes from storage: its `writes` has the last write to each item, and its `stored_arriving` has the
// writes in flight.
void Model::carry_over_replica(ModelState& found, const std::string& name, const ModelTable& was) {
  ModelTable& edited = found.edit(name);
  const std::map<std::string, ModelWrite> stored_writes = std::exchange(edited.writes, was.writes);
  edited.arriving.insert(edited.arriving.begin(), was.arriving.begin(), was.arriving.end());
  if (edited.replica.empty()) {
    edited.writes.clear();
    edited.arriving.clear();
    return;
  }
  std::set<std::string> keys;
  for (const auto& [key, item] : edited.items) keys.insert(key);
  for (const auto& [key, item] : was.items) keys.insert(key);
  for (const std::string& key : keys) {
    const auto there = found.find(name)->items.find(key);
    const auto item = there == found.find(name)->items.end() ? nullptr : there->second;
    if (same_item(item.get(), stored(was, key))) continue;
    const auto write = stored_writes.find(key);
    Whose whose = Whose::client;
    if (write != stored_writes.end() && !write->second.here) {
      whose = Whose::elsewhere;
    } else if (write != stored_writes.end() && write->second.number % 2 == 1) {
      whose = expires_here(was, key) ? Whose::service : Whose::met;
    }
    // wins() compares a write with the items as they were before the change.
    ModelState before = found;
    before.edit(name).items = was.items;
    replicate(before, name, key, whose, item);
    found.edit(name).writes = before.find(name)->writes;
    found.edit(name).arriving = before.find(name)->arriving;
    const std::string& other = before.find(name)->replica;
    if (before.find(other) != nullptr) found.edit(other).arriving = before.find(other)->arriving;
  }
}

namespace {

// Returns the writes in flight to the item. Copied items are left out, because storage does not list them.
std::vector<ModelDeparture> sent_to(const std::vector<ModelDeparture>& arriving, const std::string& key) {
  std::vector<ModelDeparture> sent;
  for (const ModelDeparture& each : arriving)
    if (each.key == key && each.number != 0) sent.push_back(each);
  return sent;
}

bool ends_so(const std::vector<ModelDeparture>& all, std::size_t from,
             const std::vector<ModelDeparture>& end) {
  return std::equal(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(), end.begin(), end.end(),
                    [](const ModelDeparture& one, const ModelDeparture& other) {
                      return same_item(one.item.get(), other.item.get());
                    });
}

}  // namespace

void Model::forget_arrived(ModelState& found) {
  for (const auto& [name, ignored] : ModelState(found).tables) {
    ModelTable& table = found.edit(name);
    std::map<std::string, std::size_t> arrived;  // by key
    for (const ModelDeparture& each : table.arriving) {
      const std::size_t sent = sent_to(table.arriving, each.key).size();
      arrived[each.key] = sent - std::min(sent, sent_to(table.stored_arriving, each.key).size());
    }
    const std::map<std::string, std::size_t> any_arrived = arrived;
    std::erase_if(table.arriving, [&](const ModelDeparture& each) {
      if (each.number == 0) return any_arrived.at(each.key) > 0;  // a copied item is older than all writes
      return arrived[each.key] > 0 && arrived[each.key]-- > 0;
    });
    table.stored_arriving.clear();
  }
}

bool Model::departures_follow(const ModelState& before, const ModelState& found) {
  const auto follow = [&](const ModelTable& was, const ModelTable& table, const std::string& key) {
    std::vector<ModelDeparture> sent = sent_to(was.arriving, key);
    std::vector<ModelDeparture> left = sent_to(table.stored_arriving, key);
    const std::vector<ModelDeparture> all_left = left;
    const ModelTable* const other = found.find(table.replica);
    const ModelTable* const other_was = before.find(table.replica);
    if (left.size() > sent.size() || !ends_so(sent, sent.size() - left.size(), left)) {
      // A commit that was not reported may have sent one more write.
      if (left.empty() || other == nullptr || other_was == nullptr ||
          same_item(stored(*other, key), stored(*other_was, key)) ||
          !same_item(left.back().item.get(), stored(*other, key)))
        return false;
      left.pop_back();
      if (left.size() > sent.size() || !ends_so(sent, sent.size() - left.size(), left)) return false;
    }
    // If the model knows that a copy included a write before the write arrived, storage must have recorded
    // this as well. However, storage can forget the write that deleted an item if the only write in flight is
    // a second deletion.
    const auto is_second_deletion = [&](const ModelDeparture& each) {
      return each.item == nullptr && stored(table, key) == nullptr;
    };
    for (std::size_t i = 0; i < left.size() && same_item(stored(was, key), stored(table, key)); ++i)
      if (wins(table, all_left[i]) && !wins(was, sent[sent.size() - left.size() + i]) &&
          !is_second_deletion(all_left[i]))
        return false;
    sent.resize(sent.size() - left.size());  // these have arrived
    // A copy may have included a later deletion, which is not reported. That deletion is still in flight.
    const auto brought = std::find_if(all_left.begin(), all_left.end(), [&](const ModelDeparture& each) {
      return each.number == number_of(table, key);
    });
    if (brought != all_left.end()) return same_item(brought->item.get(), stored(table, key));
    const auto last =
        std::find_if(sent.rbegin(), sent.rend(), [&](const ModelDeparture& each) { return wins(was, each); });
    return last == sent.rend() || same_item(last->item.get(), stored(table, key));
  };
  return std::all_of(found.tables.begin(), found.tables.end(), [&](const auto& each) {
    const ModelTable& table = *each.second;
    const ModelTable* const was = before.find(each.first);
    if (table.replica.empty() || was == nullptr || was->replica != table.replica) return true;
    std::set<std::string> keys;
    for (const ModelDeparture& departure : was->arriving) keys.insert(departure.key);
    for (const ModelDeparture& departure : table.stored_arriving) keys.insert(departure.key);
    return std::all_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return follow(*was, table, key); });
  });
}

void Model::settled() {
  ModelState next = state();
  for (const auto& [name, ignored] : state().tables) {
    if (ignored->replica.empty()) continue;
    ModelTable& table = next.edit(name);
    if (table.copying) table.streamed = true;
    table.copying = false;
    std::map<std::string, ModelDeparture> last;  // by key
    for (const ModelDeparture& departure : table.arriving) last[departure.key] = departure;
    for (const auto& [key, departure] : last) {
      if (!wins(table, departure)) continue;
      if (!same_item(departure.item.get(), stored(table, key)))
        wrong_("a write never arrived: " + name + " " + key + " " +
               (departure.item == nullptr ? "null" : departure.item->dump()));
      table.writes[key] = {departure.number, false};
    }
    table.arriving.clear();
  }
  for (const auto& [name, table] : next.tables) {
    const ModelTable* const other = next.find(table->replica);
    if (table->replica.empty()) continue;
    if (other == nullptr) {
      wrong_("the replica is missing: " + name);
      continue;
    }
    // If the service deletes late, or TTL was disabled before the deletion, a request in the other region may
    // have removed an expired item.
    const auto agrees = [&, &own = *table](const std::string& key, const Json& item) {
      const auto there = other->items.find(key);
      if (there != other->items.end()) return *there->second == item;
      const bool comes_at_once = own.expires && own.mode.kind == engine::ExpiryMode::Kind::exact;
      return !comes_at_once && due_of(item).has_value();
    };
    for (const auto& [key, item] : table->items)
      if (!agrees(key, *item)) wrong_("the two regions differ: " + name + " " + key);
  }
  became(std::move(next));
}

}  // namespace mayfly::testing
