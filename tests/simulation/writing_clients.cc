// Client writes: single items, batches, transactions and statements.
#include <algorithm>
#include <set>

#include "tests/simulation/clients.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

ItemIntent Clients::put_intent(const std::string& table, Json item, bool if_absent) {
  const std::string key = model_key(is_sorted_table(table), item);
  return {table, key, [item = std::move(item), if_absent](const Json* old) -> ItemIntent::Effect {
            if (if_absent && old != nullptr) return {.refused = true, .item = {}};
            return {.item = item};
          }};
}

// Checks the response to a write against the changes that the model was notified of and against the model's
// state.
void Clients::judge_write(const Answer& answer) {
  const Request& request = mine();
  const bool told = std::any_of(request.intents.begin(), request.intents.end(),
                                [](const ItemIntent& intent) { return intent.told; });
  const auto effect = [&](const ModelState& state, const ItemIntent& intent, engine::Instant at) {
    const ModelTable* const table = state.find(intent.table);
    return table == nullptr ? std::nullopt : std::optional(intent.effect(visible(*table, intent.key, at)));
  };
  const auto unchanged = [&](const ModelState& state, const ItemIntent& intent, engine::Instant at) {
    const auto wanted = effect(state, intent, at);
    if (!wanted || wanted->refused) return false;
    const Json* const old = visible(*state.find(intent.table), intent.key, at);
    return old == nullptr ? !wanted->item : wanted->item && *old == *wanted->item;
  };
  const auto ever = [&](const auto& right) { return model_.ever(request, now(), right); };
  if (answer.status == 200 && request.together) {
    const bool right =
        told || ever([&](const ModelState& state, engine::Instant at) {
          return std::all_of(request.intents.begin(), request.intents.end(),
                             [&](const ItemIntent& intent) { return unchanged(state, intent, at); });
        });
    if (!right) say_wrong("acknowledged, but nothing was written", answer);
  } else if (answer.status == 200) {
    for (const ItemIntent& intent : request.intents) {
      if (!intent.told &&
          !ever([&](const ModelState& state, engine::Instant at) { return unchanged(state, intent, at); }))
        say_wrong("acknowledged, but one was not written: " + intent.key, answer);
    }
  } else if (answer.type == "ResourceNotFoundException") {
    if ((told && request.together) || !ever([&](const ModelState& state, engine::Instant) {
          return std::any_of(request.intents.begin(), request.intents.end(), [&](const ItemIntent& intent) {
            const ModelTable* const table = state.find(intent.table);
            return table == nullptr || table->may_be_creating() || model_.is_going(intent.table);
          });
        }))
      say_wrong("the table existed", answer);
  } else if (answer.type == "ConditionalCheckFailedException" || answer.type == "DuplicateItemException" ||
             answer.type == "TransactionCanceledException") {
    if (told || !ever([&](const ModelState& state, engine::Instant at) {
          return std::any_of(request.intents.begin(), request.intents.end(), [&](const ItemIntent& intent) {
            const auto wanted = effect(state, intent, at);
            return wanted && wanted->refused;
          });
        }))
      say_wrong("rejected, but its condition held", answer);
  } else if (!options_.faults || answer.status != 500) {
    say_wrong("unexpected response", answer);
  }
}

void Clients::put() {
  const std::string table = pick_table();
  const Json item = new_item(is_sorted_table(table));
  const bool if_absent = pick(3) == 0;
  Json body{{"TableName", table}, {"Item", item}};
  if (if_absent) body["ConditionExpression"] = "attribute_not_exists(id)";
  Request request{.text = "PutItem " + body.dump()};
  request.intents.push_back(put_intent(table, item, if_absent));
  judge_write(run(std::move(request), [&] { return ask("PutItem", body); }));
  finish();
}

void Clients::update() {
  const std::string table = pick_table();
  const Json key = pick_key(is_sorted_table(table));
  const std::int64_t value = ++values_;
  const Json user = text(std::string(1, static_cast<char>('p' + pick(3))));
  const auto how = pick(3);
  const Json ttl = number(now() / 1000 + static_cast<std::int64_t>(pick(40)));
  const bool if_there = pick(3) == 0;
  Json values{{":v", number(value)}, {":one", number(1)}};
  std::string expression = "SET v = :v";
  if (how == 0) {
    expression += ", #u = :u";
    values[":u"] = user;
  } else if (how == 1) {
    expression += ", #t = :t";
    values[":t"] = ttl;
  }
  expression += how == 2 ? " REMOVE #t ADD hits :one" : " ADD hits :one";
  Json body{{"TableName", table},
            {"Key", key},
            {"UpdateExpression", expression},
            {"ExpressionAttributeValues", values}};
  if (how == 0) body["ExpressionAttributeNames"] = {{"#u", "user"}};
  if (how != 0) body["ExpressionAttributeNames"] = {{"#t", "ttl"}};
  if (if_there) body["ConditionExpression"] = "attribute_exists(id)";
  Request request{.text = "UpdateItem " + body.dump()};
  request.intents.push_back(
      {table, model_key(is_sorted_table(table), key), [=](const Json* old) -> ItemIntent::Effect {
         if (if_there && old == nullptr) return {.refused = true, .item = {}};
         Json item = old == nullptr ? key : *old;
         item["v"] = number(value);
         if (how == 0) item["user"] = user;
         if (how == 1) item["ttl"] = ttl;
         if (how == 2) item.erase("ttl");
         const std::int64_t hits =
             item.contains("hits") ? std::stoll(item["hits"]["N"].get<std::string>()) : 0;
         item["hits"] = number(hits + 1);
         return {.item = item};
       }});
  judge_write(run(std::move(request), [&] { return ask("UpdateItem", body); }));
  finish();
}

void Clients::remove() {
  const std::string table = pick_table();
  const Json key = pick_key(is_sorted_table(table));
  const bool if_user = pick(3) == 0;
  Json body{{"TableName", table}, {"Key", key}};
  if (if_user) {
    body["ConditionExpression"] = "#u = :u";
    body["ExpressionAttributeNames"] = {{"#u", "user"}};
    body["ExpressionAttributeValues"] = {{":u", text("p")}};
  }
  Request request{.text = "DeleteItem " + body.dump()};
  request.intents.push_back(
      {table, model_key(is_sorted_table(table), key), [if_user](const Json* old) -> ItemIntent::Effect {
         const bool holds =
             !if_user || (old != nullptr && old->contains("user") && old->at("user") == text("p"));
         return {.refused = !holds, .item = {}};
       }});
  judge_write(run(std::move(request), [&] { return ask("DeleteItem", body); }));
  finish();
}

void Clients::batch_write() {
  Request request{.together = false};
  Json items = Json::object();
  std::set<std::string> keys;
  for (auto left = 2 + pick(4); left > 0; --left) {
    const std::string table =
        away_ ? other_name(std::string(table_names[pick(2)])) : std::string(table_names[pick(2)]);
    const bool sorted = is_sorted_table(table);
    const Json item = new_item(sorted);
    const std::string key = model_key(sorted, item);
    if (!keys.insert(table + key).second) continue;
    if (pick(3) != 0) {
      items[table].push_back({{"PutRequest", {{"Item", item}}}});
      request.intents.push_back(put_intent(table, item, false));
    } else {
      items[table].push_back({{"DeleteRequest", {{"Key", key_of(sorted, item)}}}});
      request.intents.push_back({table, key, [](const Json*) { return ItemIntent::Effect{}; }});
    }
  }
  const Json body{{"RequestItems", items}};
  request.text = "BatchWriteItem " + body.dump();
  judge_write(run(std::move(request), [&] { return ask("BatchWriteItem", body); }));
  finish();
}

void Clients::transact() {
  Request request;
  Json items = Json::array();
  std::set<std::string> keys;
  for (auto left = 2 + pick(3); left > 0; --left) {
    const std::string table = pick_table();
    const bool sorted = is_sorted_table(table);
    const Json item = new_item(sorted);
    const std::string key = model_key(sorted, item);
    if (!keys.insert(table + key).second) continue;
    switch (pick(3)) {
      case 0: {
        const bool if_absent = pick(4) == 0;
        Json put{{"TableName", table}, {"Item", item}};
        if (if_absent) put["ConditionExpression"] = "attribute_not_exists(id)";
        items.push_back({{"Put", put}});
        request.intents.push_back(put_intent(table, item, if_absent));
        break;
      }
      case 1:
        items.push_back({{"Delete", {{"TableName", table}, {"Key", key_of(sorted, item)}}}});
        request.intents.push_back({table, key, [](const Json*) { return ItemIntent::Effect{}; }});
        break;
      default:
        items.push_back({{"ConditionCheck",
                          {{"TableName", table},
                           {"Key", key_of(sorted, item)},
                           {"ConditionExpression", "attribute_exists(id)"}}}});
        request.intents.push_back({table, key, [](const Json* old) -> ItemIntent::Effect {
                                     if (old == nullptr) return {.refused = true, .item = {}};
                                     return {.item = *old};
                                   }});
    }
  }
  const Json body{{"TransactItems", items}};
  request.text = "TransactWriteItems " + body.dump();
  judge_write(run(std::move(request), [&] { return ask("TransactWriteItems", body); }));
  finish();
}

void Clients::statement() {
  const Json key = pick_key(false);
  const std::int64_t value = ++values_;
  const std::string id = key.at("id").at("S").get<std::string>();
  Request request;
  std::string statement;
  const std::string table = away_ ? other_name("carts") : "carts";
  ItemIntent intent{.table = table, .key = id, .effect = {}};
  switch (pick(3)) {
    case 0:
      statement = "INSERT INTO \"" + table + "\" VALUE {'id':'" + id + "','v':" + std::to_string(value) +
                  ",'user':'q'}";
      intent = put_intent(table, {{"id", text(id)}, {"v", number(value)}, {"user", text("q")}}, true);
      break;
    case 1:
      statement = "UPDATE \"" + table + "\" SET v=" + std::to_string(value) + " WHERE id='" + id + "'";
      intent.effect = [value](const Json* old) -> ItemIntent::Effect {
        if (old == nullptr) return {.refused = true, .item = {}};
        Json item = *old;
        item["v"] = number(value);
        return {.item = item};
      };
      break;
    default:
      statement = "DELETE FROM \"" + table + "\" WHERE id='" + id + "'";
      intent.effect = [](const Json*) { return ItemIntent::Effect{}; };
  }
  request.intents.push_back(std::move(intent));
  const Json body{{"Statement", statement}};
  request.text = "ExecuteStatement " + body.dump();
  judge_write(run(std::move(request), [&] { return ask("ExecuteStatement", body); }));
  finish();
}

}  // namespace mayfly::testing
