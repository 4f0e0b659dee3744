// What clients read, of the present or, where reads lag behind, of a little before.
#include <algorithm>
#include <set>

#include "tests/simulation/clients.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

void Clients::get() {
  const std::string table = pick_table();
  const Json key = pick_key(is_sorted_table(table));
  const std::string name = model_key(is_sorted_table(table), key);
  const bool consistent = !options_.stale_reads || pick(3) == 0;
  const Json body{{"TableName", table}, {"Key", key}, {"ConsistentRead", consistent}};
  const std::size_t oldest = model_.oldest_seen(table);
  const Answer answer = run({.text = "GetItem " + body.dump()}, [&] { return ask("GetItem", body); });
  const engine::Instant end = now();
  const std::size_t first = consistent ? std::max(oldest, mine().begin) : oldest;
  const bool right =
      model_.ever_of_late(mine(), end, table, table, first, [&](const ModelState& state, engine::Instant at) {
        const ModelTable* const found = state.find(table);
        if (answer.status != 200)
          return (found == nullptr || found->may_be_creating()) && answer.type == "ResourceNotFoundException";
        if (found == nullptr || found->is_creating()) return false;
        const Json* const item = visible(*found, name, at);
        return item == nullptr ? !answer.body.contains("Item")
                               : answer.body.contains("Item") && answer.body["Item"] == *item;
      });
  if (!right && !(options_.faults && answer.status == 500)) say_wrong("no state ever showed this", answer);
  finish();
}

// A Scan of a table, or a Query of one of its indexes: one page, of one instant.
void Clients::search() {
  const std::string table = pick_table();
  const auto how = pick(3);
  Json body{{"TableName", table}};
  std::string operation = "Scan", attribute;
  Json value;
  if (how == 1) {
    operation = "Query";
    attribute = "user";
    value = text(std::string(1, static_cast<char>('p' + pick(3))));
    body["IndexName"] = "by_user";
    body["KeyConditionExpression"] = "#u = :u";
    body["ExpressionAttributeNames"] = {{"#u", "user"}};
    body["ExpressionAttributeValues"] = {{":u", value}};
  } else if (how == 2) {
    operation = "Query";
    attribute = "id";
    value = text(std::string(1, static_cast<char>('a' + pick(2))));
    body["ConsistentRead"] = true;
    body["KeyConditionExpression"] = "id = :id";
    body["ExpressionAttributeValues"] = {{":id", value}};
  }
  const std::string copy = how == 1 ? table + "/by_user" : table;
  const std::size_t oldest = model_.oldest_seen(copy);
  const Answer answer = run({.text = operation + " " + body.dump()}, [&] { return ask(operation, body); });
  const engine::Instant end = now();
  const std::size_t first = how == 2 ? std::max(oldest, mine().begin) : oldest;
  std::multiset<std::string> found;
  if (answer.status == 200) found = as_set(answer.body.at("Items").get<std::vector<Json>>());
  const bool right =
      model_.ever_of_late(mine(), end, table, copy, first, [&](const ModelState& state, engine::Instant at) {
        const ModelTable* const model_table = state.find(table);
        if (model_table == nullptr) return answer.type == "ResourceNotFoundException";
        if (answer.status == 200)
          return !model_table->is_creating() && shown(*model_table, at, attribute, value) == found;
        if (model_table->may_be_creating() && answer.type == "ResourceNotFoundException") return true;
        return how == 1 &&
               answer.type == "ValidationException";  // no such index, or one that is being filled
      });
  if (!right && !(options_.faults && answer.status == 500)) say_wrong("no state ever showed this", answer);
  finish();
}

void Clients::overlook(std::uint64_t writes) {
  Json rules = Json::array();
  if (writes > 0) {
    rules.push_back({{"fault", "stale_reads"}, {"writes", writes}, {"probability", 0.7}, {"seed", values_}});
  }
  // Until it is answered either of the two may be so.
  model_.may_overlook(std::max(writes, model_.overlooked_max()));
  const Json body{{"rules", rules}};
  const Answer answer =
      run({.text = "PUT faults " + body.dump()}, [&] { return control("PUT", "faults", body); });
  if (answer.status == 200) {
    model_.all_is_seen(mine());
  } else {
    say_wrong("reads were not made to lag", answer);
  }
  finish();
}

void Clients::lag_behind() {
  if (options_.stale_reads) overlook(pick(4));
}

}  // namespace mayfly::testing
