// Client reads of the present or, for stale reads, of a slightly older state.
#include <algorithm>
#include <set>

#include "tests/simulation/clients.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

void Clients::get() { get_of(pick_table()); }

void Clients::get_of(const std::string& table) {
  const Json key = pick_key(is_sorted_table(table));
  const std::string name = model_key(is_sorted_table(table), key);
  const bool consistent = !options_.stale_reads || pick(3) == 0;
  const Json body{{"TableName", table}, {"Key", key}, {"ConsistentRead", consistent}};
  const std::size_t oldest = model_.oldest_seen(table);
  const Answer answer =
      run({.text = "GetItem " + body.dump(), .may_lag = !consistent}, [&] { return ask("GetItem", body); });
  const engine::Instant end = now();
  const std::size_t first = consistent ? std::max(oldest, mine().begin) : oldest;
  const bool right =
      model_.ever_of_late(mine(), end, table, table, first, [&](const ModelState& state, engine::Instant at) {
        const ModelTable* const found = state.find(table);
        if (answer.status != 200)
          return (found == nullptr || found->may_be_creating() || model_.is_going(table)) &&
                 answer.type == "ResourceNotFoundException";
        if (found == nullptr || found->is_creating()) return false;
        const Json* const item = visible(*found, name, at);
        return item == nullptr ? !answer.body.contains("Item")
                               : answer.body.contains("Item") && answer.body["Item"] == *item;
      });
  if (!right && !(options_.faults && answer.status == 500))
    say_wrong("no state matches this response", answer);
  finish();
}

void Clients::search() { search_of(pick_table(), static_cast<Search>(pick(4))); }

// Reads one page, which must show the table at one instant.
void Clients::search_of(const std::string& table, Search how) {
  Json body{{"TableName", table}};
  std::string operation = "Scan", attribute;
  Json value;
  const bool consistent = how == Search::whole_scan || how == Search::by_id;
  if (consistent) body["ConsistentRead"] = true;
  if (how == Search::by_user) {
    operation = "Query";
    attribute = "user";
    value = text(std::string(1, static_cast<char>('p' + pick(3))));
    body["IndexName"] = "by_user";
    body["KeyConditionExpression"] = "#u = :u";
    body["ExpressionAttributeNames"] = {{"#u", "user"}};
    body["ExpressionAttributeValues"] = {{":u", value}};
  } else if (how == Search::by_id) {
    operation = "Query";
    attribute = "id";
    value = text(std::string(1, static_cast<char>('a' + pick(2))));
    body["KeyConditionExpression"] = "id = :id";
    body["ExpressionAttributeValues"] = {{":id", value}};
  }
  const std::string copy = how == Search::by_user ? table + "/by_user" : table;
  const std::size_t oldest = model_.oldest_seen(copy);
  const Answer answer = run({.text = operation + " " + body.dump(), .may_lag = !consistent},
                            [&] { return ask(operation, body); });
  const engine::Instant end = now();
  const std::size_t first = consistent ? std::max(oldest, mine().begin) : oldest;
  std::multiset<std::string> found;
  if (answer.status == 200) found = as_set(answer.body.at("Items").get<std::vector<Json>>());
  const bool right =
      model_.ever_of_late(mine(), end, table, copy, first, [&](const ModelState& state, engine::Instant at) {
        const ModelTable* const model_table = state.find(table);
        if (model_table == nullptr) return answer.type == "ResourceNotFoundException";
        if (answer.status == 200)
          return !model_table->is_creating() && shown(*model_table, at, attribute, value) == found;
        if ((model_table->may_be_creating() || model_.is_going(table)) &&
            answer.type == "ResourceNotFoundException")
          return true;
        return how == Search::by_user &&
               answer.type == "ValidationException";  // the index is missing or being filled
      });
  if (!right && !(options_.faults && answer.status == 500))
    say_wrong("no state matches this response", answer);
  finish();
}

// Reads the same table or index several times. Each read sees the same state as the previous read or a later
// state, and never sees only part of a transaction.
void Clients::look_again() {
  if (!options_.stale_reads) return;
  const std::string table = pick_table();
  const bool by_index = pick(3) == 0;
  for (auto left = 2 + pick(3); left > 0; --left) {
    if (by_index) {
      search_of(table, Search::by_user);
    } else if (pick(3) == 0) {
      get_of(table);
    } else {
      search_of(table, pick(4) == 0 ? Search::whole_scan : Search::scan);
    }
  }
}

void Clients::lag_behind(const engine::Lag& lag) {
  Json rules = Json::array();
  if (lag.writes != 0) {
    Json rule{{"fault", "stale_reads"}, {"probability", 0.7}, {"seed", values_}};
    if (lag.writes) rule["writes"] = *lag.writes;
    if (lag.milliseconds) rule["milliseconds"] = *lag.milliseconds;
    rules.push_back(std::move(rule));
  }
  const Json body{{"rules", rules}};
  const Model::LagId id = model_.begin_lag(lag);
  const Answer answer =
      run({.text = "PUT faults " + body.dump()}, [&] { return control("PUT", "faults", body); });
  if (answer.status == 200) {
    model_.lag_answered(id);
    model_.all_is_seen(mine());
  } else {
    say_wrong("the stale reads rule was not set", answer);
  }
  finish();
}

void Clients::lag_somehow() {
  if (!options_.stale_reads) return;
  static constexpr std::int64_t milliseconds[] = {1, 700, 5000};
  engine::Lag lag;
  const auto how = pick(4);
  if (how != 0) lag.writes = pick(5);
  if (how <= 1) lag.milliseconds = milliseconds[pick(std::size(milliseconds))];
  lag_behind(lag);
}

}  // namespace mayfly::testing
