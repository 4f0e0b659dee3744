// Tests limits on requests. Each limit is tested with a request that just fits and one that does not.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compat/control/control.h"
#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"
#include "engine/items/failpoints.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

json text(std::string value) { return {{"S", std::move(value)}}; }

struct Music : TestEmulator {
  Music() {
    ok("CreateTable", json::parse(R"({"TableName":"music","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"},{"AttributeName":"song","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"artist","KeyType":"HASH"},{"AttributeName":"song","KeyType":"RANGE"}]})"));
  }
  static json put(const std::string& artist, const std::string& song, json more = json::object()) {
    more["artist"] = text(artist);
    more["song"] = text(song);
    return {{"TableName", "music"}, {"Item", more}};
  }
};

// A list nested `levels` deep.
json nested(int levels) {
  json value = text("x");
  for (int i = 0; i < levels; ++i) value = {{"L", json::array({value})}};
  return value;
}

std::string joined(int count, const std::string& each, const std::string& between) {
  std::string all = each;
  for (int i = 1; i < count; ++i) all += between + each;
  return all;
}

TEST_CASE("a partition key can be up to 2048 bytes and a sort key can be up to 1024 bytes") {
  Music music;
  music.ok("PutItem", Music::put(std::string(2048, 'a'), std::string(1024, 's')));
  CHECK(music.refused("PutItem", Music::put(std::string(2049, 'a'), "s")) ==
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
        "of2048 bytes");
  CHECK(music.refused("PutItem", Music::put("a", std::string(1025, 's'))) ==
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size "
        "limit of "
        "1024 bytes");
}

TEST_CASE("an item can be up to 400 KB including attribute names") {
  Music music;
  const std::size_t rest = 400 * 1024 - std::string(
                                            "artist"
                                            "a"
                                            "song"
                                            "s"
                                            "t")
                                            .size();
  music.ok("PutItem", Music::put("a", "s", {{"t", text(std::string(rest, 'x'))}}));
  CHECK(music.refused("PutItem", Music::put("a", "s", {{"t", text(std::string(rest + 1, 'x'))}})) ==
        "Item size has exceeded the maximum allowed size");
  CHECK(music.refused("UpdateItem", {{"TableName", "music"},
                                     {"Key", {{"artist", text("a")}, {"song", text("s")}}},
                                     {"UpdateExpression", "SET u = :u"},
                                     {"ExpressionAttributeValues", {{":u", text("x")}}}}) ==
        "Item size to update has exceeded the maximum allowed size");
}

TEST_CASE("UpdateItem limits the data it writes to 400 KB regardless of the condition") {
  Music music;
  const auto update = [](std::size_t bytes, const std::string& condition) {
    return json{{"TableName", "music"},
                {"Key", {{"artist", text("a")}, {"song", text("s")}}},
                {"UpdateExpression", "SET t = :t"},
                {"ConditionExpression", condition},
                {"ExpressionAttributeValues", {{":t", text(std::string(bytes, 'x'))}}}};
  };
  const std::size_t most = 400 * 1024 - (3 + 19 + 1);  // for a SET of an attribute with a one-byte name
  const char* const too_large = "Item size to update has exceeded the maximum allowed size";
  music.ok("UpdateItem", update(most, "attribute_not_exists(t)"));
  CHECK(music.refused("UpdateItem", update(most + 1, "attribute_exists(t)")) == too_large);
  CHECK(music.refused("UpdateItem", update(most + 1, "attribute_not_exists(t)")) == too_large);
  CHECK(music.refused("UpdateItem", update(most, "attribute_not_exists(t)")) ==
        "The conditional request failed");

  // For AttributeUpdates, transactions and PartiQL, only the resulting item's size counts toward the limit.
  const json value = text(std::string(most + 1, 'x'));
  music.ok("UpdateItem", {{"TableName", "music"},
                          {"Key", {{"artist", text("a")}, {"song", text("s")}}},
                          {"AttributeUpdates", {{"t", {{"Value", value}}}}}});
  music.ok("TransactWriteItems",
           {{"TransactItems", json::array({{{"Update",
                                             {{"TableName", "music"},
                                              {"Key", {{"artist", text("a")}, {"song", text("s")}}},
                                              {"UpdateExpression", "SET t = :t"},
                                              {"ExpressionAttributeValues", {{":t", value}}}}}}})}});
  music.ok("ExecuteStatement", {{"Statement", "UPDATE music SET t = ? WHERE artist = 'a' AND song = 's'"},
                                {"Parameters", json::array({value})}});
}

TEST_CASE("a value can be nested up to 32 levels deep and a path can have up to 32 levels") {
  Music music;
  music.ok("PutItem", Music::put("a", "s", {{"t", nested(31)}}));
  CHECK(music.refused("PutItem", Music::put("a", "s", {{"t", nested(32)}})) ==
        "1 validation error detected: Nesting Levels have exceeded supported limits: Attributes in the item "
        "have nested levels beyond supported limit");
  const json get = {{"TableName", "music"}, {"Key", {{"artist", text("a")}, {"song", text("s")}}}};
  json deep = get;
  deep["ProjectionExpression"] = joined(32, "a", ".");
  music.ok("GetItem", deep);
  deep["ProjectionExpression"] = joined(33, "a", ".");
  CHECK(music.refused("GetItem", deep) ==
        "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33");
}

TEST_CASE("an expression can be up to 4096 bytes long with 300 operators and 100 operands per IN list") {
  Music music;
  json scan = {{"TableName", "music"}, {"ExpressionAttributeValues", {{":v", text("x")}}}};
  scan["FilterExpression"] = "a = :v" + std::string(4090, ' ');
  music.ok("Scan", scan);
  scan["FilterExpression"] = "a = :v" + std::string(4091, ' ');
  CHECK(music.refused("Scan", scan) ==
        "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: "
        "4097");
  scan["FilterExpression"] = "NOT " + joined(150, "a = :v", " OR ");  // 150 comparisons, 149 ORs and one NOT
  music.ok("Scan", scan);
  scan["FilterExpression"] = "NOT NOT " + joined(150, "a = :v", " OR ");
  CHECK(music.refused("Scan", scan) ==
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
  scan["FilterExpression"] = "a IN (" + joined(100, ":v", ",") + ")";
  music.ok("Scan", scan);
  scan["FilterExpression"] = "a IN (" + joined(101, ":v", ",") + ")";
  CHECK(music.refused("Scan", scan) ==
        "Invalid FilterExpression: The IN operator is provided with too many operands; number of operands: "
        "101");
}

TEST_CASE("BatchGetItem reads up to 100 items and returns up to 16 MB") {
  Music music;
  json keys = json::array();
  for (int i = 0; i < 45; ++i) {
    music.ok("PutItem", Music::put("a", std::to_string(i), {{"t", text(std::string(400'000, 'x'))}}));
    keys.push_back({{"artist", text("a")}, {"song", text(std::to_string(i))}});
  }
  const json answer = music.ok("BatchGetItem", {{"RequestItems", {{"music", {{"Keys", keys}}}}}});
  CHECK(answer["Responses"]["music"].size() == 41);
  CHECK(answer["UnprocessedKeys"]["music"]["Keys"].size() == 4);
  for (int i = 45; i < 101; ++i) keys.push_back({{"artist", text("a")}, {"song", text(std::to_string(i))}});
  const json many = {{"RequestItems", {{"music", {{"Keys", keys}}}}}};
  CHECK(music.refused("BatchGetItem", many)
            .ends_with("at 'RequestItems.music.member.Keys' failed to satisfy constraint: "
                       "Member must have length less than or equal to 100"));
}

TEST_CASE("a page ends with the item that takes it past 1 MB") {
  Music music;
  for (const char* song : {"1", "2", "3", "4"}) {
    music.ok("PutItem", Music::put("a", song, {{"t", text(std::string(400'000, 'x'))}}));
  }
  const json page = music.ok("Scan", {{"TableName", "music"}, {"Select", "COUNT"}});
  CHECK(page["Count"] == 3);
  CHECK(page["LastEvaluatedKey"] == json({{"artist", text("a")}, {"song", text("3")}}));
}

TEST_CASE("a transaction may write items of up to 4 MB in total") {
  Music music;
  json actions = json::array();
  for (int i = 0; i < 11; ++i) {
    actions.push_back(
        {{"Put", Music::put("a", std::to_string(i), {{"t", text(std::string(400'000, 'x'))}})}});
  }
  CHECK(music.refused("TransactWriteItems", {{"TransactItems", actions}}) ==
        "Transaction payload size cannot exceed 4 MB");
  actions.erase(10);
  music.ok("TransactWriteItems", {{"TransactItems", actions}});
}

TEST_CASE("expression steps are limited per page for filters and per request for writes", "[holds]") {
  Music music;
  const std::size_t bytes = 390'000;
  const auto song = [](int number) { return std::to_string(number); };
  for (int i = 0; i < 8; ++i)
    music.ok("PutItem", Music::put("a", song(i), {{"t", text(std::string(bytes, 'x'))}}));
  const json values = {{":v", text("y")}};
  const auto pages = [&](int comparisons) {
    json scan = {{"TableName", "music"},
                 {"FilterExpression", joined(comparisons, "t = :v", " OR ")},
                 {"ExpressionAttributeValues", values}};
    std::string scanned;
    for (;;) {
      const json page = music.ok("Scan", scan);
      scanned += page["ScannedCount"].dump();
      if (!page.contains("LastEvaluatedKey")) return scanned;
      scan["ExclusiveStartKey"] = page["LastEvaluatedKey"];
    }
  };
  CHECK(pages(20) == "332");
  CHECK(pages(150) == "22220");  // 7,300,000 steps per item

  const auto transaction = [&](const char* kind, int items, json action) -> json {
    action["TableName"] = "music";
    action["ExpressionAttributeValues"] = values;
    json actions = json::array();
    for (int i = 0; i < items; ++i) {
      action["Key"] = {{"artist", text("a")}, {"song", text(song(i))}};
      actions.push_back({{kind, action}});
    }
    return {{"TransactItems", actions}};
  };
  const auto checks = [&](int items) {
    return transaction("ConditionCheck", items,
                       {{"ConditionExpression", "NOT (" + joined(149, "t = :v", " OR ") + ")"}});
  };
  music.ok("TransactWriteItems", checks(6));
  CHECK(music.refused("TransactWriteItems", checks(7)) ==
        "Evaluating the expressions of this request can take 50857723 steps; Mayfly allows 50000000. Each "
        "value of an item, and each 16 bytes of a value, count as one step per operand");

  // An update copies its item once, no matter how many attributes it sets. All statements of a batch count as
  // one request.
  std::string copies = "SET b = t";
  for (int i = 0; i < 260; ++i) copies += ", c" + std::to_string(i) + " = t";
  const auto updates = [&](int items) {
    return transaction("Update", items, {{"ConditionExpression", "t = :v"}, {"UpdateExpression", copies}});
  };
  const std::string failed = "Transaction cancelled, please refer cancellation reasons";
  CHECK(music.refused("TransactWriteItems", updates(8)).starts_with(failed));
  const std::string condition = "NOT (" + joined(148, "t = 'y'", " OR ") + ")";
  json statements = json::array();
  for (int i = 0; i < 8; ++i)
    statements.push_back({{"Statement", "UPDATE music SET n = 1 WHERE artist = 'a' AND song = '" + song(i) +
                                            "' AND " + condition}});
  std::string codes;
  const json answer = music.ok("BatchExecuteStatement", {{"Statements", statements}});
  for (const json& response : answer["Responses"])
    codes += response.contains("Error") ? response["Error"]["Code"].get<std::string>() + " " : "done ";
  CHECK(codes == "done done done done done done ValidationError ValidationError ");
}

TEST_CASE("a table can have up to 20 global and 5 local indexes that project 100 attributes in total") {
  Music music;
  const auto create = [](int global, int local, int projected) {
    json table = json::parse(R"({"TableName":"many","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}]})");
    for (const auto& [list, count] :
         {std::pair("GlobalSecondaryIndexes", global), {"LocalSecondaryIndexes", local}}) {
      for (int i = 0; i < count; ++i) {
        json index = {{"IndexName", std::string(list).substr(0, 1) + "index" + std::to_string(i)},
                      {"KeySchema", table["KeySchema"]},
                      {"Projection", {{"ProjectionType", "KEYS_ONLY"}}}};
        const int names = std::min(projected, 20);
        projected -= names;
        if (names > 0) {
          index["Projection"] = {{"ProjectionType", "INCLUDE"}, {"NonKeyAttributes", json::array()}};
          for (int n = 0; n < names; ++n)
            index["Projection"]["NonKeyAttributes"].push_back("n" + std::to_string(n));
        }
        table[list].push_back(index);
      }
    }
    return table;
  };
  music.ok("CreateTable", create(20, 5, 100));
  CHECK(music.refused("CreateTable", create(21, 0, 0)) ==
        "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit "
        "of 20");
  CHECK(music.refused("CreateTable", create(0, 6, 0)) ==
        "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds per-table limit "
        "of 5");
  CHECK(music.refused("CreateTable", create(20, 0, 101)) ==
        "One or more parameter values were invalid: The total number of projected attributes in all indexes "
        "exceeds "
        "the limit of 100");
  CHECK(music.refused(
            "UpdateTable",
            {{"TableName", "many"},
             {"AttributeDefinitions", json::array({{{"AttributeName", "a"}, {"AttributeType", "S"}}})},
             {"GlobalSecondaryIndexUpdates",
              json::array({{{"Create",
                             {{"IndexName", "one-more"},
                              {"KeySchema", json::array({{{"AttributeName", "a"}, {"KeyType", "HASH"}}})},
                              {"Projection", {{"ProjectionType", "ALL"}}}}}}})}}) ==
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20");
}

}  // namespace
TEST_CASE("an error message quotes only a limited part of a large request") {
  Music music;
  const std::string large(12'000'000, 'x');
  const auto answer_bytes = [&](const std::string& operation, const std::string& body) {
    const compat::Answer answer = music.execute(operation, body);
    CHECK(answer.status == 400);
    return answer.body.size();
  };
  const std::string quoted = '"' + large + '"';
  for (const auto& [operation, body] : std::initializer_list<std::pair<const char*, std::string>>{
           {"PutItem", R"({"TableName":"music","ReturnValues":)" + quoted + R"(,"Item":{}})"},
           {"GetItem", R"({"TableName":)" + quoted + R"(,"Key":{}})"},
           {"Scan",
            R"({"TableName":"music","Select":)" + quoted + R"(,"ReturnConsumedCapacity":)" + quoted + "}"},
           {"PutItem", R"({"TableName":"music","Item":{"artist":{"N":)" + quoted + "}}}"},
           {"PutItem", R"({"TableName":"music","Item":{"artist":{"SS":[)" + quoted + "," + quoted + "]}}}"},
           {"Scan", R"({"TableName":"music","FilterExpression":"a = :b","ExpressionAttributeValues":{":)" +
                        large + R"(":{"S":"x"}}})"},
           {"Scan", R"({"TableName":"music","FilterExpression":"a = b","ExpressionAttributeNames":{"#)" +
                        large + R"(":"x"}})"},
           {"BatchGetItem", R"({"RequestItems":{)" + quoted + R"(:{"Keys":[{"a":{"S":"x"}}]}}})"},
           {"CreateTable", R"({"TableName":"t","KeySchema":[{"AttributeName":)" + quoted +
                               R"(,"KeyType":"HASH"}],"AttributeDefinitions":[]})"},
           {"ExecuteStatement", R"({"Statement":)" + quoted + "}"},
           {"ListTagsOfResource", R"({"ResourceArn":)" + quoted + "}"},
           {"DescribeStream", R"({"StreamArn":)" + quoted + "}"}}) {
    INFO(operation << ' ' << body.substr(0, 100));
    CHECK(answer_bytes(operation, body) < 2 * compat::message_bytes_max);
  }
}

TEST_CASE("the numbers of accounts and tables and snapshots are limited") {
  compat::EmulatorOptions options;
  options.limits = {.accounts_max = 2, .tables_max = 2, .snapshots_max = 2};
  TestEmulator emulator(std::move(options));
  const auto create = [](const std::string& name) {
    return json::parse(R"({"TableName":")" + name + R"(","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  };
  const std::string too_many_tables =
      "Subscriber limit exceeded: There is a limit of 2 tables per subscriber";
  emulator.ok("CreateTable", create("one"));
  emulator.ok("CreateTable", create("two"));
  CHECK(emulator.run("CreateTable", create("three").dump()) ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException","message":")" +
            too_many_tables + R"("})");
  CHECK(emulator.refused("CreateTable", create("two")) == "Table already exists: two");
  emulator.scope.region = "eu-west-1";
  emulator.ok("CreateTable", create("three"));
  emulator.scope.region = "us-east-1";
  emulator.ok("DeleteTable", {{"TableName", "one"}});
  emulator.ok("CreateTable", create("three"));

  const auto control = [&](std::string_view method, std::string_view path) {
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(), {.method = method, .path = path, .scope = emulator.scope});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string snapshots = "/_mayfly/snapshots";
  const std::string first = json::parse(control("POST", snapshots).substr(4))["id"];
  CHECK(control("POST", snapshots).starts_with("200 "));
  CHECK(control("POST", snapshots) ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException","message":)"
        R"("Too many snapshots in account 000000000000 (limit 2, set by --snapshots-max)."})");
  CHECK(control("DELETE", snapshots + "/" + first) == "200 {}");
  CHECK(control("POST", snapshots).starts_with("200 "));

  emulator.scope.account = "000000000001";
  emulator.ok("ListTables", json::object());
  emulator.scope.account = "000000000002";
  const std::string too_many_accounts = "Too many accounts on this server (limit 2, set by --accounts-max).";
  CHECK(emulator.refused("ListTables", json::object()) == too_many_accounts);
  CHECK(control("GET", "/_mayfly/clock").find(too_many_accounts) != std::string::npos);
  emulator.scope.account = "000000000000";
  const std::string metrics = control("GET", "/_mayfly/metrics");
  for (const char* line : {"accounts 2", "tables 3", "snapshots 2", "mappings 0"})
    CHECK(metrics.find("\nmayfly_" + std::string(line) + "\n") != std::string::npos);
}

TEST_CASE("a Lambda call neither finds nor creates an account that no other request has named") {
  TestEmulator emulator;
  emulator.scope.account = "000000000009";
  const auto accounts = [&] { return emulator.emulator().database().accounts().ids(); };
  const std::vector<std::string> before = accounts();
  const auto lambda = [&](std::string_view method, std::string_view path, std::string_view body) {
    const compat::Answer answer = compat::triggers::answer_rest(
        emulator.emulator().triggers(),
        {.scope = emulator.scope, .method = method, .path = path, .query = {}, .body = body});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string mappings = "/2015-03-31/event-source-mappings";
  const std::string stream =
      "arn:aws:dynamodb:us-east-1:000000000009:table/carts/stream/2023-11-14T22:13:20.000";
  const std::string created =
      lambda("POST", mappings,
             R"({"EventSourceArn":")" + stream + R"(","FunctionName":"f","StartingPosition":"LATEST"})");
  CHECK(created == R"(400 {"Type":"User","message":"Stream not found: )" + stream + R"("})");
  CHECK(lambda("GET", mappings, "") == R"(200 {"EventSourceMappings":[]})");
  const std::string unknown = mappings + "/4f1a4a3e-0000-4000-8000-000000000000";
  for (const std::string_view method : {"GET", "PUT", "DELETE"})
    CHECK(lambda(method, unknown, "").starts_with("404 "));
  CHECK(lambda("POST", "/2015-03-31/functions/f/invocations", "{}").starts_with("404 "));
  CHECK(accounts() == before);
  CHECK(std::count(before.begin(), before.end(), "000000000009") == 0);
}

TEST_CASE("a server whose memory is full rejects only writes that add data") {
  compat::EmulatorOptions options;
  options.database.memory_bytes_max = 1;  // the limit is checked after each megabyte that is written
  TestEmulator emulator(std::move(options));
  const json created = json::parse(R"({"TableName":"items","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
      "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})");
  const std::string stream = emulator.ok("CreateTable", created)["TableDescription"]["LatestStreamArn"];
  const auto lambda = [&](std::string_view method, std::string_view path, std::string_view query,
                          std::string_view body) {
    const compat::Answer answer = compat::triggers::answer_rest(
        emulator.emulator().triggers(),
        {.scope = emulator.scope, .method = method, .path = path, .query = query, .body = body});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string mappings = "/2015-03-31/event-source-mappings";
  const auto creation = [&](const std::string& function) {
    return R"({"EventSourceArn":")" + stream + R"(","FunctionName":")" + function +
           R"(","StartingPosition":"LATEST","Enabled":false,"Tags":{"team":"blue"}})";
  };
  const std::string mapping = json::parse(lambda("POST", mappings, "", creation("f")).substr(4))["UUID"];
  const std::string tags =
      "/2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:event-source-mapping:" + mapping;
  emulator.ok(
      "UpdateTimeToLive",
      {{"TableName", "items"}, {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}});
  const auto key = [](int id) -> json { return {{"id", text(std::to_string(id))}}; };
  const auto item = [&](int id) -> json {
    json made = key(id);
    made["ttl"] = {{"N", std::to_string(TestEmulator::start / 1000 + 60)}};
    made["value"] = text(std::string(350'000, 'x'));
    return made;
  };
  for (int id = 0; id < 3; ++id) emulator.ok("PutItem", {{"TableName", "items"}, {"Item", item(id)}});

  const std::string full = "The server's memory limit is reached (1 bytes, set by --memory-max).";
  const json update = {{"TableName", "items"},
                       {"Key", key(0)},
                       {"UpdateExpression", "SET a = :a"},
                       {"ExpressionAttributeValues", {{":a", text("x")}}}};
  const json check = {
      {"ConditionCheck",
       {{"TableName", "items"}, {"Key", key(2)}, {"ConditionExpression", "attribute_exists(id)"}}}};
  json another = created;
  another["TableName"] = "another";
  for (const auto& [operation, body] : std::initializer_list<std::pair<const char*, json>>{
           {"PutItem", {{"TableName", "items"}, {"Item", key(9)}}},
           {"UpdateItem", update},
           {"BatchWriteItem", {{"RequestItems", {{"items", {{{"PutRequest", {{"Item", key(9)}}}}}}}}}},
           {"TransactWriteItems", {{"TransactItems", {{{"Update", update}}, check}}}},
           {"TransactWriteItems", {{"TransactItems", {check}}, {"ClientRequestToken", "token"}}},
           {"ExecuteStatement", {{"Statement", "INSERT INTO items VALUE {'id':'9'}"}}},
           {"ExecuteStatement", {{"Statement", "UPDATE items SET a = 1 WHERE id = '0'"}}},
           {"UpdateTable",
            {{"TableName", "items"},
             {"AttributeDefinitions", json::array({{{"AttributeName", "a"}, {"AttributeType", "S"}}})},
             {"GlobalSecondaryIndexUpdates",
              json::array({{{"Create",
                             {{"IndexName", "by_a"},
                              {"KeySchema", json::array({{{"AttributeName", "a"}, {"KeyType", "HASH"}}})},
                              {"Projection", {{"ProjectionType", "ALL"}}}}}}})}}},
           {"CreateTable", another}}) {
    INFO(operation << ' ' << body);
    CHECK(emulator.refused(operation, body) == full);
  }
  const auto control = [&](std::string_view method, std::string_view path, std::string_view body = "") {
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(), {.method = method, .path = path, .body = body, .scope = emulator.scope});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string refusal =
      R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException","message":")" + full +
      R"("})";
  CHECK(control("POST", "/_mayfly/snapshots") == refusal);
  CHECK(control("PUT", "/_mayfly/faults", R"({"rules":[{"fault":"throttle"}]})") == refusal);
  CHECK(control("PUT", "/_mayfly/faults", R"({"rules":[]})") == R"(200 {"rules":[]})");
  CHECK(control("PUT", "/_mayfly/functions/f", R"({"url":"http://127.0.0.1:1/"})") == refusal);
  CHECK(control("PUT", "/_mayfly/failpoints", R"({"table":"items","key":{"id":{"S":"0"}}})") == refusal);
  const std::string lambdas_refusal = R"(429 {"Type":"User","message":")" + full + R"("})";
  CHECK(lambda("POST", mappings, "", creation("g")) == lambdas_refusal);
  CHECK(lambda("POST", tags, "", R"({"Tags":{"stage":"test"}})") == lambdas_refusal);
  CHECK(lambda("DELETE", tags, "tagKeys=team", "") == "204 ");
  CHECK(lambda("GET", tags, "", "") == R"(200 {"Tags":{}})");
  CHECK(control("GET", "/_mayfly/health").find(R"*("degraded: memory limit reached (--memory-max)")*") !=
        std::string::npos);

  emulator.ok("GetItem", {{"TableName", "items"}, {"Key", key(0)}});
  emulator.ok("TransactWriteItems", {{"TransactItems", {check}}});
  emulator.ok("DeleteItem", {{"TableName", "items"}, {"Key", key(0)}});
  emulator.ok("BatchWriteItem", {{"RequestItems", {{"items", {{{"DeleteRequest", {{"Key", key(1)}}}}}}}}});
  CHECK(emulator.advance(std::chrono::minutes(2)) == 1);
  emulator.ok("DeleteTable", {{"TableName", "items"}});
  CHECK(control("POST", "/_mayfly/reset").starts_with("200 "));
}

TEST_CASE("the number of functions is limited and an existing function can still be changed at the limit") {
  compat::EmulatorOptions options;
  options.triggers.functions_max = 2;
  TestEmulator emulator(std::move(options));
  const auto control = [&](std::string_view method, std::string_view path, std::string_view body) {
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(), {.method = method, .path = path, .body = body, .scope = emulator.scope});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string one = "/_mayfly/functions/one", two = "/_mayfly/functions/two",
                    url = R"({"url":"http://127.0.0.1:1/"})";
  CHECK(control("PUT", one, url).starts_with("200 "));
  emulator.scope.account = "000000000001";
  CHECK(control("PUT", one, url).starts_with("200 "));
  CHECK(control("PUT", two, url) ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException","message":)"
        R"("Too many functions on this server (limit 2, set by --functions-max)."})");
  CHECK(control("PUT", one, url).starts_with("200 "));
  CHECK(control("GET", "/_mayfly/metrics", "").find("\nmayfly_functions 2\n") != std::string::npos);
  CHECK(control("DELETE", one, "").starts_with("200 "));
  CHECK(control("PUT", two, url).starts_with("200 "));
}

TEST_CASE("an account can have up to 100 fault rules with 1024-byte names and 2048-byte function URLs") {
  TestEmulator emulator;
  const auto control = [&](std::string_view path, std::string_view body) {
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(), {.method = "PUT", .path = path, .body = body, .scope = emulator.scope});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const auto refusal = [](const std::string& message) {
    return R"(400 {"__type":"com.amazon.coral.validate#ValidationException","message":")" + message;
  };
  const auto rule = [&](std::size_t bytes) {
    return control("/_mayfly/faults",
                   R"({"rules":[{"fault":"throttle","table":")" + std::string(bytes, 't') + "\"}]}");
  };
  CHECK(rule(1024).starts_with("200 "));
  CHECK(rule(1025).starts_with(refusal("'table' must be a string of at most 1024 bytes, got ")));
  const auto rules = [&](int count) {
    return control("/_mayfly/faults", R"({"rules":[)" + joined(count, R"({"fault":"throttle"})", ",") + "]}");
  };
  CHECK(rules(101).starts_with(refusal("'rules' must be an array of at most 100 objects, got ")));
  CHECK(rules(100).starts_with("200 "));
  const std::string start = "http://127.0.0.1:1/";
  const auto function = [&](std::size_t bytes) {
    return control("/_mayfly/functions/f",
                   R"({"url":")" + start + std::string(bytes - start.size(), 'u') + "\"}");
  };
  CHECK(function(2048).starts_with("200 "));
  CHECK(function(2049).starts_with(refusal("'url' must be a string of 1 to 2048 bytes, got ")));
}

TEST_CASE("the number of failpoints is limited across accounts and releasing one makes room for another") {
  TestEmulator emulator;
  const json created = json::parse(R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  emulator.ok("CreateTable", created);
  engine::Database& database = emulator.emulator().database();
  for (std::size_t i = 1; i < engine::Failpoints::points_max; ++i)
    CHECK(database.failpoints().arm(database.catalog().find(emulator.scope, "carts"), std::to_string(i), {}));

  emulator.scope.account = "000000000001";
  emulator.ok("CreateTable", created);
  const auto control = [&](std::string_view method, const std::string& id) {
    const std::string body = R"({"table":"carts","key":{"id":{"S":")" + id + R"("}}})";
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(),
        {.method = method, .path = "/_mayfly/failpoints", .body = body, .scope = emulator.scope});
    return std::to_string(answer.status) + ' ' + answer.body;
  };
  const std::string armed =
      R"(200 {"failpoints":[{"region":"us-east-1","table":"carts","key":{"id":{"S":"a"}},"state":"armed"}]})";
  CHECK(control("PUT", "a") == armed);
  CHECK(control("PUT", "b") ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#LimitExceededException","message":)"
        R"("Too many failpoints on this server (limit 1000)."})");
  CHECK(control("PUT", "a") == armed);
  CHECK(control("DELETE", "a") == R"(200 {"failpoints":[]})");
  CHECK(control("PUT", "b").starts_with("200 "));
}

TEST_CASE("a fault rule returns at most 100 cancellation reasons for an oversized transaction") {
  TestEmulator emulator;
  const compat::Answer put = compat::control::answer(
      emulator.emulator(), {.method = "PUT",
                            .path = "/_mayfly/faults",
                            .body = R"({"rules":[{"table":"carts","fault":"transaction_conflict"}]})",
                            .scope = emulator.scope});
  REQUIRE(put.status == 200);
  const auto refused = [&](int actions) {
    const std::string action = R"({"Delete":{"TableName":"carts","Key":{"id":{"S":"1"}}}})";
    return emulator.run("TransactWriteItems", R"({"TransactItems":[)" + joined(actions, action, ",") + "]}");
  };
  CHECK(refused(1) ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":)"
        R"("Transaction cancelled, please refer cancellation reasons for specific reasons )"
        R"([TransactionConflict]","CancellationReasons":[{"Code":"TransactionConflict","Message":)"
        R"("Transaction is ongoing for the item"}]})");
  CHECK(refused(100'000) == refused(100));
}

TEST_CASE("concurrent callers cannot exceed the limits on what they create") {
  compat::EmulatorOptions options;
  options.limits = {.accounts_max = 2, .tables_max = 3, .snapshots_max = 3};
  options.triggers.functions_max = 3;
  TestEmulator emulator(std::move(options));
  const auto control = [&](std::string_view method, std::string path, std::string_view body) {
    return compat::control::answer(emulator.emulator(),
                                   {.method = method, .path = path, .body = body, .scope = emulator.scope});
  };
  std::atomic<int> tables = 0, snapshots = 0, functions = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 8; ++caller) {
      callers.emplace_back([&, caller] {
        const std::string name = "name" + std::to_string(caller);
        const auto table = emulator.emulator().execute(emulator.scope, "DynamoDB_20120810.CreateTable",
                                                       R"({"TableName":")" + name + R"(",
            "BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
            "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]})");
        tables += table.status == 200 ? 1 : 0;
        snapshots += control("POST", "/_mayfly/snapshots", "").status == 200 ? 1 : 0;
        const auto function =
            control("PUT", "/_mayfly/functions/" + name, R"({"url":"http://127.0.0.1:1/"})");
        functions += function.status == 200 ? 1 : 0;
      });
    }
  }
  CHECK(tables == 3);
  CHECK(snapshots == 3);
  CHECK(functions == 3);
}

TEST_CASE("an unsupported AWS member is rejected with its name and an unknown member is ignored") {
  Music music;
  const std::string no = "Mayfly does not support this member of the request yet: ";
  json table = json::parse(R"({"TableName":"others","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  table["Colour"] = "blue";
  music.ok("CreateTable", table);
  table["TableName"] = "replica";
  table["GlobalTableSourceArn"] = "arn:aws:dynamodb:us-east-1:000000000001:table/replica";
  CHECK(music.refused("CreateTable", table) == no + "'globalTableSourceArn'");
}

}  // namespace mayfly::testing
