#include "tests/simulation/clients.h"

#include <algorithm>
#include <memory>
#include <set>

#include "compat/control/call.h"
#include "compat/control/control.h"
#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"
#include "engine/clock.h"
#include "engine/history.h"
#include "engine/interleaving.h"
#include "tests/simulation/interleaver.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view table_names[] = {"carts", "visits", "extra", "old-carts", "old-visits"};

bool is_sorted_table(const std::string& name) { return name.ends_with("visits"); }

Json text(const std::string& value) { return {{"S", value}}; }
Json number(std::int64_t value) { return {{"N", std::to_string(value)}}; }

Json key_of(bool sorted, const Json& item) {
  Json key{{"id", item.at("id")}};
  if (sorted) key["at"] = item.at("at");
  return key;
}

Json by_user_index() {
  return {{"IndexName", "by_user"},
          {"KeySchema", {{{"AttributeName", "user"}, {"KeyType", "HASH"}}}},
          {"Projection", {{"ProjectionType", "ALL"}}}};
}

std::multiset<std::string> as_set(const std::vector<Json>& items) {
  std::multiset<std::string> set;
  for (const Json& item : items) set.insert(item.dump());
  return set;
}

std::string print(const std::multiset<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "\n    " + item;
  return text;
}

// What a table shows at that time, all of it or what has that value of an attribute.
std::multiset<std::string> shown(const ModelTable& table, engine::Instant now,
                                 const std::string& attribute = {}, const Json& value = {}) {
  std::multiset<std::string> set;
  for (const auto& [key, unused] : table.items) {
    const Json* const item = visible(table, key, now);
    if (item == nullptr) continue;
    if (!attribute.empty() && (!item->contains(attribute) || item->at(attribute) != value)) continue;
    set.insert(item->dump());
  }
  return set;
}

}  // namespace

Clients::Clients(Model& model, std::uint64_t seed, std::int64_t first_value, ClientOptions options,
                 Wrong wrong, std::vector<std::string>& trace)
    : model_(model),
      random_(seed),
      options_(options),
      wrong_(std::move(wrong)),
      trace_(trace),
      values_(first_value) {}

// --- asking

engine::Instant Clients::now() const { return emulator_->database().now(scope_.account); }

Clients::Answer Clients::ask(const std::string& operation, const Json& body) {
  const bool streams = operation == "DescribeStream" || operation == "GetShardIterator" ||
                       operation == "GetRecords" || operation == "ListStreams";
  const std::string target =
      std::string(streams ? compat::dynamodb_streams : compat::dynamodb) + "." + operation;
  const compat::Answer answer = emulator_->execute(scope_, target, body.dump());
  Answer result{answer.status, {}, answer.body, Json::parse(answer.body, nullptr, false)};
  if (answer.status != 200) {
    result.type = result.body.value("__type", "");
    result.type = result.type.substr(result.type.find('#') + 1);
  }
  return result;
}

Clients::Answer Clients::control(const std::string& method, const std::string& path, const Json& body) {
  const auto answer = compat::control::answer(*emulator_, {.method = method,
                                                           .path = "/_mayfly/" + path,
                                                           .query = {},
                                                           .body = body.is_null() ? "" : body.dump(),
                                                           .scope = scope_});
  return {static_cast<int>(answer.status), "control", answer.body, Json::parse(answer.body, nullptr, false)};
}

Clients::Answer Clients::run(Request request, const std::function<Answer()>& ask) {
  const int self = Interleaver::self();
  const std::string text = request.text;
  trace_.push_back("[" + std::to_string(self) + "] " + text);
  const engine::Instant begin_now = now();
  model_.begin(self, std::move(request), begin_now);
  Answer answer = ask();
  last_status_ = answer.status;
  while (model_.half_told() && engine::Interleaving::used()->blocked()) {}
  trace_.push_back("[" + std::to_string(self) + "]   " + text.substr(0, text.find(' ')) + " -> " +
                   std::to_string(answer.status) + " " + answer.text);
  return answer;
}

Request& Clients::mine() { return model_.request(Interleaver::self()); }

void Clients::finish() {
  model_.end(Interleaver::self(), last_status_ >= 500 ? Model::Ended::in_doubt : Model::Ended::answered);
}

void Clients::say_wrong(const std::string& what, const Answer& answer) {
  wrong_(what + "\n  " + mine().text + "\n  -> " + std::to_string(answer.status) + " " + answer.text);
}

// --- choosing

std::string Clients::pick_table() {
  if (pick(8) != 0) return std::string(table_names[pick(2)]);
  return std::string(table_names[options_.past ? 2 + pick(3) : 2]);
}

Json Clients::pick_key(bool sorted) {
  Json key{{"id", text(std::string(1, static_cast<char>('a' + pick(sorted ? 2 : 6))))}};
  if (sorted) key["at"] = number(static_cast<std::int64_t>(pick(4)));
  return key;
}

Json Clients::new_item(bool sorted) {
  Json item = pick_key(sorted);
  item["v"] = number(++values_);
  if (pick(3) != 0) item["user"] = text(std::string(1, static_cast<char>('p' + pick(3))));
  if (sorted && pick(2) != 0) item["n"] = number(static_cast<std::int64_t>(pick(3)));
  if (pick(2) != 0) item["ttl"] = number(now() / 1000 + static_cast<std::int64_t>(pick(40)) - 3);
  return item;
}

void Clients::act() {
  struct Choice {
    unsigned weight;
    void (Clients::*act)();
  };
  static constexpr Choice choices[] = {
      {10, &Clients::put},        {8, &Clients::update},          {5, &Clients::remove},
      {3, &Clients::batch_write}, {4, &Clients::transact},        {4, &Clients::statement},
      {5, &Clients::get},         {5, &Clients::search},          {4, &Clients::change_some_table},
      {4, &Clients::move_clock},  {2, &Clients::keep_or_restore}, {6, &Clients::use_past}};
  unsigned sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  auto drawn = pick(sum);
  for (const Choice& choice : choices) {
    if (drawn < choice.weight) return (this->*choice.act)();
    drawn -= choice.weight;
  }
}

// --- writing

ItemIntent Clients::put_intent(const std::string& table, Json item, bool if_absent) {
  const std::string key = model_key(is_sorted_table(table), item);
  return {table, key, [item = std::move(item), if_absent](const Json* old) -> ItemIntent::Effect {
            if (if_absent && old != nullptr) return {.refused = true, .item = {}};
            return {.item = item};
          }};
}

// The answer of what writes items, against what the model was told and what it has.
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
            return table == nullptr || table->may_be_creating();
          });
        }))
      say_wrong("the table was there", answer);
  } else if (answer.type == "ConditionalCheckFailedException" || answer.type == "DuplicateItemException" ||
             answer.type == "TransactionCanceledException") {
    if (told || !ever([&](const ModelState& state, engine::Instant at) {
          return std::any_of(request.intents.begin(), request.intents.end(), [&](const ItemIntent& intent) {
            const auto wanted = effect(state, intent, at);
            return wanted && wanted->refused;
          });
        }))
      say_wrong("refused, but its condition held", answer);
  } else if (!options_.faults || answer.status != 500) {
    say_wrong("an answer that nobody expected", answer);
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
    const std::string table(table_names[pick(2)]);
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
  ItemIntent intent{.table = "carts", .key = id, .effect = {}};
  switch (pick(3)) {
    case 0:
      statement = "INSERT INTO carts VALUE {'id':'" + id + "','v':" + std::to_string(value) + ",'user':'q'}";
      intent = put_intent("carts", {{"id", text(id)}, {"v", number(value)}, {"user", text("q")}}, true);
      break;
    case 1:
      statement = "UPDATE carts SET v=" + std::to_string(value) + " WHERE id='" + id + "'";
      intent.effect = [value](const Json* old) -> ItemIntent::Effect {
        if (old == nullptr) return {.refused = true, .item = {}};
        Json item = *old;
        item["v"] = number(value);
        return {.item = item};
      };
      break;
    default:
      statement = "DELETE FROM carts WHERE id='" + id + "'";
      intent.effect = [](const Json*) { return ItemIntent::Effect{}; };
  }
  request.intents.push_back(std::move(intent));
  const Json body{{"Statement", statement}};
  request.text = "ExecuteStatement " + body.dump();
  judge_write(run(std::move(request), [&] { return ask("ExecuteStatement", body); }));
  finish();
}

// --- reading

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

// --- changing tables

namespace {
// What change_table() can do, by number.
constexpr std::uint64_t table_changes = 13;
constexpr std::uint64_t ttl_on_off_on[] = {4, 6, 4}, index_on_off_on[] = {2, 3, 2};
}  // namespace

void Clients::change_some_table() {
  if (!options_.tables) return;
  const std::string table = pick_table();
  const auto which = pick(table_changes + 2);
  if (which < table_changes) return change_table(table, which);
  // TTL goes on, off and on again, perhaps before what the first needed is done; or an index does.
  for (const std::uint64_t each : which == table_changes ? ttl_on_off_on : index_on_off_on)
    change_table(table, each);
}

void Clients::drop_table(const std::string& name) {
  // One that can be gone back to leaves what it was.
  const auto last = std::make_shared<ModelBackup>();
  last->system = true;
  last->earliest = not_before();
  Request request{.text = "DeleteTable " + name};
  const std::string backup = "#" + std::to_string(++values_);
  request.change = [=](ModelState& state) {
    if (const auto found = state.tables.find(name); found != state.tables.end() && found->second->recovery) {
      last->table = found->second;
      state.backups[name + "$DeletedTableBackup" + backup] = last;
    }
    state.tables.erase(name);
  };
  const Answer answer = run(std::move(request), [&] { return ask("DeleteTable", {{"TableName", name}}); });
  last->latest = now();
  if (answer.status == 200 && !mine().changed) say_wrong("acknowledged, but no table was dropped", answer);
  if (answer.status != 200 && mine().differs) say_wrong("refused, but the table was dropped", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("an answer that nobody expected", answer);
  finish();
}

void Clients::change_table(const std::string& table, std::uint64_t which) {
  const auto change = [&](const std::function<void(ModelTable&)>& edit) {
    return [=](ModelState& state) {
      if (state.find(table) != nullptr) edit(state.edit(table));
    };
  };
  Request request;
  std::function<Answer()> asks;
  const auto call = [&](const std::string& operation, const Json& body) {
    request.text = operation + " " + body.dump();
    asks = [this, operation, body] { return ask(operation, body); };
  };
  const auto controls = [&](const std::string& method, const std::string& path, const Json& body) {
    request.text = method + " " + path + " " + body.dump();
    asks = [this, method, path, body] { return control(method, path, body); };
  };
  const Json attributes{{{"AttributeName", "user"}, {"AttributeType", "S"}}};
  switch (which) {
    case 0:
      request.change = [this](ModelState& state) {
        state.tables["extra"] = std::make_shared<const ModelTable>(
            ModelTable{.name = "extra", .streamed = true, .number = model_.next_number()});
      };
      call("CreateTable",
           {{"TableName", "extra"},
            {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
            {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
            {"BillingMode", "PAY_PER_REQUEST"},
            {"StreamSpecification", {{"StreamEnabled", true}, {"StreamViewType", "NEW_AND_OLD_IMAGES"}}}});
      break;
    case 1: return drop_table("extra");
    case 12:
      if (options_.past) drop_table(pick(2) == 0 ? "old-carts" : "old-visits");
      return;
    case 2:
      request.change = change([](ModelTable& edited) { edited.by_user = true; });
      call("UpdateTable", {{"TableName", table},
                           {"AttributeDefinitions", attributes},
                           {"GlobalSecondaryIndexUpdates", {{{"Create", by_user_index()}}}}});
      break;
    case 3:
      request.change = change([](ModelTable& edited) { edited.by_user = false; });
      call("UpdateTable", {{"TableName", table},
                           {"GlobalSecondaryIndexUpdates", {{{"Delete", {{"IndexName", "by_user"}}}}}}});
      break;
    case 4:
    case 5:
      request.change = change([](ModelTable& edited) {
        edited.expires = true;
        edited.expiry_changed = unknown;
      });
      call("UpdateTimeToLive", {{"TableName", table},
                                {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}});
      break;
    case 6:
      request.change = change([](ModelTable& edited) {
        edited.expires = false;
        edited.expiry_changed = unknown;
      });
      call("UpdateTimeToLive", {{"TableName", table},
                                {"TimeToLiveSpecification", {{"Enabled", false}, {"AttributeName", "ttl"}}}});
      break;
    case 7: {
      const bool on = pick(2) != 0;
      request.change = change([on](ModelTable& edited) {
        edited.streamed = on;
        edited.records.clear();
      });
      Json specification{{"StreamEnabled", on}};
      if (on) specification["StreamViewType"] = "NEW_AND_OLD_IMAGES";
      call("UpdateTable", {{"TableName", table}, {"StreamSpecification", specification}});
      break;
    }
    case 8: controls("POST", "streams/" + table + "/split", Json::object()); break;
    case 9: controls("POST", "streams/" + table + "/roll", Json::object()); break;
    case 10: {
      engine::ExpiryMode mode;
      Json body{{"mode", "exact"}};
      if (const auto which = pick(3); which == 1) {
        mode.kind = engine::ExpiryMode::Kind::manual;
        body["mode"] = "manual";
      } else if (which == 2) {
        mode = {engine::ExpiryMode::Kind::aws, 4'000, 14'000, 7};
        body = {{"mode", "aws"}, {"delay_seconds", {4, 14}}, {"seed", 7}};
      }
      request.change = change([mode](ModelTable& edited) {
        edited.mode = mode;
        edited.expiry_changed = unknown;
      });
      controls("PUT", "ttl/" + table, body);
      break;
    }
    default: controls("POST", "ttl/" + table + "/sweep", nullptr);
  }
  const bool changes = request.change != nullptr;
  const Answer answer = run(std::move(request), asks);
  if (answer.status == 200) model_.happened_by(table, now());
  if (changes && answer.status == 200 && !mine().changed && answer.type != "control")
    say_wrong("acknowledged, but no table was changed", answer);
  if (changes && answer.status != 200 && mine().differs)
    say_wrong("refused, but the table was changed", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("an answer that nobody expected", answer);
  finish();
}

// --- time, and the whole account

void Clients::move_clock() {
  Json body;
  switch (pick(4)) {
    case 0: body = {{"to", "next-expiry"}, {"age_streams", true}}; break;
    // Where days pass the model of streams has no time of their own.
    default: body = {{"seconds", pick(12)}, {"age_streams", options_.past}};
  }
  // So that there is something to go back to, and something to forget.
  if (options_.past && pick(6) == 0) {
    const std::uint64_t seconds = pick(4) == 0 ? 3600 * (1 + pick(100)) : 200 + pick(400);
    body = {{"seconds", seconds}, {"age_streams", true}};
  }
  const Answer answer =
      run({.text = "advance " + body.dump()}, [&] { return control("POST", "clock/advance", body); });
  if (answer.status != 200 && !options_.faults) say_wrong("the clock was not moved", answer);
  finish();
}

void Clients::keep_or_restore() {
  if (!options_.whole_account) return;
  const auto how = pick(8);
  if (how == 7) {
    Request request{.text = "reset"};
    request.change = [](ModelState& state) { state = {}; };
    const Answer answer = run(std::move(request), [&] { return control("POST", "reset", nullptr); });
    if (answer.status == 200) kept_.clear();
    if (answer.status != 200 && !options_.faults) say_wrong("no reset", answer);
    finish();
    make_tables();
  } else if (how < 4 || kept_.empty()) {
    const Answer answer = run({.text = "snapshot"}, [&] { return control("POST", "snapshots", nullptr); });
    if (answer.status == 200) {
      if (const auto& state = model_.snapshot_of(Interleaver::self())) {
        if (model_.backups_stood_still(mine()))
          kept_.push_back({answer.body.at("id").get<std::string>(), *state});
      } else {
        say_wrong("no snapshot was taken", answer);
      }
    } else if (!options_.faults) {
      say_wrong("no snapshot", answer);
    }
    finish();
  } else if (how == 4) {
    const Kept kept = kept_[pick(kept_.size())];
    static_cast<void>(run({.text = "drop snapshot " + kept.id},
                          [&] { return control("DELETE", "snapshots/" + kept.id, nullptr); }));
    std::erase_if(kept_, [&](const Kept& other) { return other.id == kept.id; });
    finish();
  } else {
    const Kept kept = kept_[pick(kept_.size())];
    Request request{.text = "restore " + kept.id};
    request.change = [kept](ModelState& state) {
      state = kept.state;
      for (const auto& [name, table] : kept.state.tables)
        if (table->awaited) state.edit(name).may_be_removed = true;
    };
    const Answer answer = run(std::move(request),
                              [&] { return control("POST", "snapshots/" + kept.id + "/restore", nullptr); });
    // It may have been dropped, or gone with a reset, meanwhile.
    if (answer.status == 200 && !mine().changed) say_wrong("restored, but nothing was replaced", answer);
    if (answer.status != 200 && mine().changed) say_wrong("not restored, but replaced", answer);
    finish();
  }
}

void Clients::make_tables() {
  for (const std::string& table : {std::string("carts"), std::string("visits")}) {
    const bool sorted = is_sorted_table(table);
    Json attributes{{{"AttributeName", "id"}, {"AttributeType", "S"}},
                    {{"AttributeName", "user"}, {"AttributeType", "S"}}};
    Json keys{{{"AttributeName", "id"}, {"KeyType", "HASH"}}};
    Json body{{"TableName", table},
              {"BillingMode", "PAY_PER_REQUEST"},
              {"GlobalSecondaryIndexes", {by_user_index()}},
              {"StreamSpecification", {{"StreamEnabled", true}, {"StreamViewType", "NEW_AND_OLD_IMAGES"}}}};
    if (sorted) {
      attributes.push_back({{"AttributeName", "at"}, {"AttributeType", "N"}});
      attributes.push_back({{"AttributeName", "n"}, {"AttributeType", "N"}});
      keys.push_back({{"AttributeName", "at"}, {"KeyType", "RANGE"}});
      body["LocalSecondaryIndexes"] = {
          {{"IndexName", "by_n"},
           {"KeySchema",
            {{{"AttributeName", "id"}, {"KeyType", "HASH"}}, {{"AttributeName", "n"}, {"KeyType", "RANGE"}}}},
           {"Projection", {{"ProjectionType", "ALL"}}}}};
    }
    body["AttributeDefinitions"] = attributes;
    body["KeySchema"] = keys;
    Request request{.text = "CreateTable " + body.dump()};
    request.change = [this, table, sorted](ModelState& state) {
      state.tables[table] = std::make_shared<const ModelTable>(ModelTable{.name = table,
                                                                          .sorted = sorted,
                                                                          .by_user = true,
                                                                          .by_n = sorted,
                                                                          .streamed = true,
                                                                          .number = model_.next_number()});
    };
    const Answer answer = run(std::move(request), [&] { return ask("CreateTable", body); });
    if (answer.status >= 500 && !options_.faults) say_wrong("no table", answer);
    finish();
    Request ttl{.text = "UpdateTimeToLive " + table};
    ttl.change = [table](ModelState& state) {
      if (state.find(table) == nullptr) return;
      state.edit(table).expires = true;
      state.edit(table).expiry_changed = unknown;
    };
    static_cast<void>(run(std::move(ttl), [&] {
      return ask(
          "UpdateTimeToLive",
          {{"TableName", table}, {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}});
    }));
    model_.happened_by(table, now());
    finish();
    if (options_.past && pick(2) == 0) keep_past(table, true);
    deliver(table);
  }
}

// To a function, and to Kinesis.
void Clients::deliver(const std::string& table) {
  const Answer described = ask("DescribeTable", {{"TableName", table}});
  if (described.status != 200) return;
  const Json mapping{{"EventSourceArn", described.body["Table"].value("LatestStreamArn", "")},
                     {"FunctionName", table},
                     {"StartingPosition", "TRIM_HORIZON"},
                     {"BatchSize", 1 + pick(5)},
                     {"ParallelizationFactor", 1 + pick(3)},
                     {"BisectBatchOnFunctionError", pick(2) == 0}};
  const std::string body = mapping.dump();
  const auto answer = compat::triggers::answer_rest(
      emulator_->triggers(),
      {.scope = scope_, .method = "POST", .path = "/2015-03-31/event-source-mappings", .body = body});
  if (answer.status == 202) mapped_.insert(table);
  static_cast<void>(
      ask("EnableKinesisStreamingDestination",
          {{"TableName", table}, {"StreamArn", "arn:aws:kinesis:us-east-1:000000000000:stream/" + table}}));
}

// --- everything

std::vector<Json> Clients::read_all(const std::string& operation, Json body, const std::string& list) {
  std::vector<Json> all;
  for (;;) {
    const Answer answer = ask(operation, body);
    if (answer.status != 200) {
      wrong_(operation + " " + body.dump() + " -> " + answer.text);
      return all;
    }
    for (const Json& one : answer.body.at(list)) all.push_back(one);
    if (!answer.body.contains("LastEvaluatedKey")) return all;
    body["ExclusiveStartKey"] = answer.body["LastEvaluatedKey"];
  }
}

void Clients::check_all() {
  if (options_.stale_reads) {
    overlook(0);
    model_.may_overlook(0);
  }
  const Answer listed = ask("ListTables", Json::object());
  const auto is_listed = [&](const std::string& name) {
    const auto all = listed.body.value("TableNames", std::set<std::string>());
    return all.contains(name);
  };
  // Nothing is on its way any more.
  ModelState settled = model_.state();
  for (const auto& [name, table] : model_.state().tables) {
    if (table->is_creating() && !(table->may_be_removed && !is_listed(name)))
      wrong_("what a restore brings back is not all there: " + name);
    if (table->may_be_removed && !is_listed(name)) {
      settled.tables.erase(name);
    } else if (table->awaited) {
      settled.edit(name).awaited.reset();
    }
  }
  model_.became(std::move(settled));
  std::set<std::string> names;
  for (const auto& [name, table] : model_.state().tables) names.insert(name);
  if (listed.body.value("TableNames", std::set<std::string>()) != names)
    wrong_("other tables than there should be: " + listed.text);
  for (const auto& [name, table] : model_.state().tables) {
    check_table(name, *table);
    if (table->streamed) check_stream(name, *table);
  }
  check_backups();
}

void Clients::check_table(const std::string& name, const ModelTable& table) {
  const engine::Instant now = this->now();
  for (const auto& [key, item] : table.items)
    if (visible(table, key, now) == nullptr) wrong_("it is due, and was not removed: " + name + " " + key);
  const auto compare = [&](const std::string& what, const std::vector<Json>& found,
                           const std::multiset<std::string>& expected) {
    if (as_set(found) != expected)
      wrong_(name + ": " + what + " shows" + print(as_set(found)) + "\n  instead of" + print(expected));
  };
  compare("a Scan", read_all("Scan", {{"TableName", name}}, "Items"), shown(table, now));
  const Answer described = ask("DescribeTable", {{"TableName", name}});
  const auto count = described.body["Table"].value("ItemCount", std::size_t{0});
  if (count != table.items.size())
    wrong_(name + ": ItemCount is " + std::to_string(count) + " of " + std::to_string(table.items.size()));
  const auto check_index = [&](const std::string& list, const std::string& index,
                               const std::string& attribute, bool there) {
    Json description;
    for (const Json& one : described.body["Table"].value(list, Json::array()))
      if (one.at("IndexName") == index) description = one;
    if (description.is_null() == there)
      return wrong_(name + ": the index " + index + " is not as it should be");
    if (!there) return;
    std::multiset<std::string> expected;
    for (const auto& [key, item] : table.items)
      if (item->contains(attribute)) expected.insert(item->dump());
    compare(index, read_all("Scan", {{"TableName", name}, {"IndexName", index}}, "Items"), expected);
    if (description.value("ItemCount", std::size_t{0}) != expected.size())
      wrong_(name + ": ItemCount of " + index + " is " + description.dump());
  };
  check_index("GlobalSecondaryIndexes", "by_user", "user", table.by_user);
  check_index("LocalSecondaryIndexes", "by_n", "n", table.by_n);

  const Answer pending = control("GET", "ttl/" + name, nullptr);
  std::size_t expiring = 0;
  for (const auto& [key, item] : table.items)
    if (table.expires && due_of(*item)) ++expiring;
  if (pending.body.value("pending", std::size_t{0}) != expiring)
    wrong_(name + ": " + pending.text + " instead of " + std::to_string(expiring) + " that expire");
}

// Every shard from its beginning: each record once, each item's in order.
void Clients::check_stream(const std::string& name, const ModelTable& table) {
  const Answer described = ask("DescribeTable", {{"TableName", name}});
  const std::string arn = described.body["Table"].value("LatestStreamArn", "");
  const Answer stream = ask("DescribeStream", {{"StreamArn", arn}});
  if (stream.status != 200) return wrong_(name + " has no stream: " + stream.text);
  std::map<std::string, std::vector<std::string>> found, expected;  // by key
  std::vector<std::pair<std::string, Json>> records;                // by sequence number
  for (const Json& shard : stream.body["StreamDescription"]["Shards"]) {
    const Answer at =
        ask("GetShardIterator",
            {{"StreamArn", arn}, {"ShardId", shard.at("ShardId")}, {"ShardIteratorType", "TRIM_HORIZON"}});
    Json iterator = at.body.value("ShardIterator", Json());
    while (!iterator.is_null()) {
      const Answer page = ask("GetRecords", {{"ShardIterator", iterator}});
      if (page.status != 200) return wrong_(name + ": GetRecords -> " + page.text);
      for (const Json& record : page.body["Records"])
        records.emplace_back(record.at("dynamodb").at("SequenceNumber").get<std::string>(), record);
      iterator = page.body["Records"].empty() ? Json() : page.body.value("NextShardIterator", Json());
    }
  }
  std::sort(records.begin(), records.end(), [](const auto& one, const auto& other) {
    return one.first.size() != other.first.size() ? one.first.size() < other.first.size()
                                                  : one.first < other.first;
  });
  for (const auto& [sequence, record] : records) {
    const Json& data = record.at("dynamodb");
    found[model_key(table.sorted, data.at("Keys"))].push_back(
        print_record(record.at("eventName").get<std::string>(), record.contains("userIdentity"),
                     data.value("OldImage", Json()), data.value("NewImage", Json())));
  }
  const auto expect_as_of = [&](engine::Instant instant) {
    expected.clear();
    for (const ModelRecord* record : readable(table.records, instant))
      expected[record->key].push_back(
          print_record(record->event, record->by_service, record->old_image, record->new_image));
    return found == expected;
  };
  if (expect_as_of(now())) return;
  // Records are trimmed in lots: those of the last minute before a day ago may be there still.
  constexpr engine::Instant lot_ms = 60'000;
  const auto old = readable(table.records, now() - lot_ms);
  for (const ModelRecord* record : old) {
    if (record->at >= now() - engine::day_ms) break;
    if (expect_as_of(record->at + engine::day_ms)) return;
  }
  expect_as_of(now());
  std::string difference;
  for (const auto& [key, list] : expected) {
    if (found[key] == list) continue;
    difference += "\n  " + key + " has";
    for (const std::string& one : found[key]) difference += "\n    " + one;
    difference += "\n   instead of";
    for (const std::string& one : list) difference += "\n    " + one;
  }
  wrong_(name + ": its stream is not what happened" + difference);
}

}  // namespace mayfly::testing
