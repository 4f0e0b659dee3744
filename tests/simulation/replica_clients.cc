// Client requests about global tables: adding and removing a replica, and setting how writes reach it.
#include <memory>

#include "tests/simulation/clients.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

void Clients::change_replicas() {
  if (!options_.replicas) return;
  away_ = false;
  switch (pick(8)) {
    case 0: return add_replica(std::string(table_names[pick(2)]));
    case 1: return remove_replica(std::string(table_names[pick(2)]));
    case 2: return settle_replicas();
    default: change_way();
  }
}

void Clients::add_replica(const std::string& table) {
  const Json body{{"TableName", table}, {"ReplicaUpdates", {{{"Create", {{"RegionName", away_region}}}}}}};
  Request request{.text = "UpdateTable " + body.dump()};
  request.changes_at = "tables changed together";
  request.change = [table, number = model_.next_number()](ModelState& state) {
    const std::string name = other_name(table);
    if (state.find(table) == nullptr || state.find(name) != nullptr) return;
    ModelTable& own = state.edit(table);
    ModelTable made{.name = name,
                    .sorted = own.sorted,
                    .by_user = own.by_user,
                    .by_n = own.by_n,
                    .expires = own.expires,
                    .mode = own.mode,
                    .number = number,
                    .replica = table,
                    .copying = true};
    for (const auto& [key, item] : own.items) made.arriving.push_back({key, item, 0, true});
    own.replica = name;
    own.writes.clear();
    own.arriving.clear();
    own.streamed = true;
    state.tables[name] = std::make_shared<const ModelTable>(std::move(made));
  };
  const Answer answer = run(std::move(request), [&] { return ask("UpdateTable", body); });
  if (answer.status == 200 && !mine().changed) say_wrong("acknowledged, but no replica was added", answer);
  if (answer.status == 400 && mine().differs) say_wrong("rejected, but a replica was added", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("unexpected response", answer);
  finish();
}

void Clients::remove_replica(const std::string& table) {
  const Json body{{"TableName", table}, {"ReplicaUpdates", {{{"Delete", {{"RegionName", away_region}}}}}}};
  Request request{.text = "UpdateTable " + body.dump()};
  request.changes_at = "tables changed together";
  request.removes = other_name(table);
  request.change = [table](ModelState& state) {
    if (state.find(table) == nullptr || state.tables.erase(other_name(table)) == 0) return;
    ModelTable& own = state.edit(table);
    own.replica.clear();
    own.writes.clear();
    own.arriving.clear();
  };
  const Answer answer = run(std::move(request), [&] { return ask("UpdateTable", body); });
  if (answer.status == 200 && !mine().changed) say_wrong("acknowledged, but no replica was removed", answer);
  if (answer.status == 400 && mine().differs) say_wrong("rejected, but a replica was removed", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("unexpected response", answer);
  finish();
}

void Clients::change_way() {
  const bool there = pick(2) == 0;
  Json body{{"from", there ? home_region : away_region}, {"to", there ? away_region : home_region}};
  switch (pick(3)) {
    case 0: body["paused"] = true; break;
    case 1: body["lag_milliseconds"] = pick(5000); break;
    default: body["paused"] = false;
  }
  const Answer answer =
      run({.text = "PUT replication " + body.dump()}, [&] { return control("PUT", "replication", body); });
  if (answer.status != 200 && !options_.faults)
    say_wrong("the replication settings were not changed", answer);
  finish();
}

void Clients::settle_replicas() {
  const Answer answer = run({.text = "POST replication/settle"},
                            [&] { return control("POST", "replication/settle", nullptr); });
  if (answer.status != 200 && !options_.faults) say_wrong("replication did not settle", answer);
  finish();
}

void Clients::open_ways() {
  if (!options_.replicas) return;
  const Answer answer =
      run({.text = "DELETE replication"}, [&] { return control("DELETE", "replication", nullptr); });
  if (answer.status != 200) say_wrong("the replication settings were not reset", answer);
  finish();
}

}  // namespace mayfly::testing
