// Client requests about tables: creating, changing and dropping them, and delivering their changes to
// functions and Kinesis.
#include <memory>

#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"
#include "tests/simulation/clients.h"
#include "tests/simulation/interleaver.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

namespace {
// The number of changes that change_table() can make, and two sequences of these changes.
constexpr std::uint64_t table_changes = 13;
constexpr std::uint64_t ttl_on_off_on[] = {4, 6, 4}, index_on_off_on[] = {2, 3, 2};
}  // namespace

void Clients::change_some_table() {
  if (!options_.tables) return;
  const std::string table = pick_table();
  const auto which = pick(table_changes + 2);
  if (which < table_changes) return change_table(table, which);
  // TTL, or an index, is enabled, disabled and enabled again, possibly before its backfill has finished.
  for (const std::uint64_t each : which == table_changes ? ttl_on_off_on : index_on_off_on)
    change_table(table, each);
}

void Clients::drop_table(const std::string& name) {
  // A table with recovery leaves a SYSTEM backup.
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
  if (answer.status != 200 && mine().differs) say_wrong("rejected, but the table was dropped", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("unexpected response", answer);
  finish();
}

void Clients::change_table(const std::string& table, std::uint64_t which) {
  const auto change = [&](const std::function<void(ModelTable&)>& edit) {
    return [=](ModelState& state) {
      if (state.find(table) != nullptr) edit(state.edit(table));
    };
  };
  // Settings that the two regions share change in both regions at the same time.
  const auto change_all = [&](const std::function<void(ModelTable&)>& edit) {
    return [=](ModelState& state) {
      if (state.find(table) == nullptr) return;
      edit(state.edit(table));
      if (const std::string other = state.find(table)->replica; state.find(other) != nullptr)
        edit(state.edit(other));
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
      request.change = change_all([](ModelTable& edited) { edited.by_user = true; });
      call("UpdateTable", {{"TableName", table},
                           {"AttributeDefinitions", attributes},
                           {"GlobalSecondaryIndexUpdates", {{{"Create", by_user_index()}}}}});
      break;
    case 3:
      request.change = change_all([](ModelTable& edited) { edited.by_user = false; });
      call("UpdateTable", {{"TableName", table},
                           {"GlobalSecondaryIndexUpdates", {{{"Delete", {{"IndexName", "by_user"}}}}}}});
      break;
    case 4:
    case 5:
      request.change = change_all([](ModelTable& edited) {
        edited.expires = true;
        edited.expiry_changed = unknown;
      });
      call("UpdateTimeToLive", {{"TableName", table},
                                {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}});
      break;
    case 6:
      request.change = change_all([](ModelTable& edited) {
        edited.expires = false;
        edited.expiry_changed = unknown;
      });
      call("UpdateTimeToLive", {{"TableName", table},
                                {"TimeToLiveSpecification", {{"Enabled", false}, {"AttributeName", "ttl"}}}});
      break;
    case 7: {
      const bool on = pick(2) != 0;
      request.change = change_all([on](ModelTable& edited) {
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
  if (answer.status == 200) {
    model_.happened_by(table, now());
    model_.happened_by(other_name(table), now());
  }
  if (changes && answer.status == 200 && !mine().changed && answer.type != "control")
    say_wrong("acknowledged, but no table was changed", answer);
  if (changes && answer.status != 200 && mine().differs)
    say_wrong("rejected, but the table was changed", answer);
  if (answer.status >= 500 && !options_.faults) say_wrong("unexpected response", answer);
  finish();
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
    if (answer.status >= 500 && !options_.faults) say_wrong("the table was not created", answer);
    finish();
    Request ttl{.text = "UpdateTimeToLive " + table};
    ttl.change = [table](ModelState& state) {
      for (const std::string& name : {table, other_name(table)}) {
        if (state.find(name) == nullptr) continue;
        state.edit(name).expires = true;
        state.edit(name).expiry_changed = unknown;
      }
    };
    static_cast<void>(run(std::move(ttl), [&] {
      return ask(
          "UpdateTimeToLive",
          {{"TableName", table}, {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}});
    }));
    model_.happened_by(table, now());
    model_.happened_by(other_name(table), now());
    finish();
    if (options_.past && pick(2) == 0) keep_past(table, true);
    deliver(table);
    if (options_.replicas && pick(4) != 0) add_replica(table);
  }
}

// Delivers the table's changes to a function and to Kinesis.
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

}  // namespace mayfly::testing
