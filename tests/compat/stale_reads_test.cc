// Tests the rules of the stale_reads fault: which operations read an older state, which state they see, and
// what ends the lag.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "compat/control/control.h"
#include "compat/faults.h"
#include "engine/background/replication.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr std::string_view indexed_carts =
    R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"at","AttributeType":"N"},
          {"AttributeName":"user","AttributeType":"S"},{"AttributeName":"day","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"by_day","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"day","KeyType":"RANGE"}]}],
        "GlobalSecondaryIndexes":[{"IndexName":"by_user","Projection":{"ProjectionType":"ALL"},
          "KeySchema":[{"AttributeName":"user","KeyType":"HASH"}]}]})";

json item(int at, int n, const std::string& user = "u", const std::string& day = "mon") {
  return {{"id", {{"S", "a"}}},
          {"at", {{"N", std::to_string(at)}}},
          {"n", {{"N", std::to_string(n)}}},
          {"user", {{"S", user}}},
          {"day", {{"S", day}}}};
}

// A table with two items. `rule` sets a stale_reads rule.
struct Carts : TestEmulator {
  Carts() {
    REQUIRE(execute("CreateTable", indexed_carts).status == 200);
    put(item(1, 1));
    put(item(2, 1, "u", "tue"));
  }
  void put(const json& item) { ok("PutItem", {{"TableName", "carts"}, {"Item", item}}); }
  json control(std::string_view method, std::string_view path, const json& body) {
    const std::string text = body.is_null() ? "" : body.dump();
    const auto answer = compat::control::answer(
        emulator(), {.method = method, .path = path, .query = {}, .body = text, .scope = scope, .stop = {}});
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    return json::parse(answer.body);
  }
  // Sets one fault rule: stale_reads, with these additional members.
  void rule(json members = {{"writes", 1}}) {
    members["fault"] = "stale_reads";
    control("PUT", "/_mayfly/faults", {{"rules", {std::move(members)}}});
  }
};

struct Read {
  std::string operation;
  json request;  // without ConsistentRead
};

const json key = {{"id", {{"S", "a"}}}, {"at", {{"N", "1"}}}};
const json parameters = {{{"S", "a"}}, {{"N", "1"}}};

// Each request reads the item with the key `key`, including the item's attribute n.
const std::vector<Read> reads = {
    {"GetItem", {{"TableName", "carts"}, {"Key", key}}},
    {"BatchGetItem", {{"RequestItems", {{"carts", {{"Keys", {key}}}}}}}},
    {"Query",
     {{"TableName", "carts"},
      {"KeyConditionExpression", "id = :i and #a < :a"},
      {"ExpressionAttributeNames", {{"#a", "at"}}},
      {"ExpressionAttributeValues", {{":i", {{"S", "a"}}}, {":a", {{"N", "2"}}}}}}},
    {"Query",
     {{"TableName", "carts"},
      {"IndexName", "by_day"},
      {"Limit", 1},
      {"Select", "ALL_ATTRIBUTES"},
      {"KeyConditionExpression", "id = :i"},
      {"ExpressionAttributeValues", {{":i", {{"S", "a"}}}}}}},
    {"Scan", {{"TableName", "carts"}, {"Limit", 1}}},
    {"ExecuteStatement",
     {{"Statement", R"(SELECT * FROM carts WHERE id = ? AND "at" = ?)"}, {"Parameters", parameters}}},
    {"ExecuteStatement", {{"Statement", "SELECT * FROM carts WHERE \"at\" = 1"}}},
    {"BatchExecuteStatement",
     {{"Statements",
       {{{"Statement", R"(SELECT * FROM carts WHERE id = ? AND "at" = ?)"}, {"Parameters", parameters}}}}}},
};

json consistent(Read read) {
  json& at = read.operation == "BatchGetItem"            ? read.request["RequestItems"]["carts"]
             : read.operation == "BatchExecuteStatement" ? read.request["Statements"][0]
                                                         : read.request;
  at["ConsistentRead"] = true;
  return read.request;
}

// Returns the first "n" in a response.
std::string n_in(const json& answer) {
  if (answer.is_object() && answer.contains("n")) return answer["n"]["N"];
  if (!answer.is_structured()) return "";
  for (const auto& each : answer)
    if (const std::string n = n_in(each); !n.empty()) return n;
  return "";
}

}  // namespace

TEST_CASE("a read without ConsistentRead lags until a consistent read ends the lag", "[stale_reads]") {
  for (const Read& read : reads) {
    CAPTURE(read.operation, read.request.dump());
    Carts carts;
    carts.rule();
    carts.put(item(1, 2));
    CHECK(n_in(carts.ok(read.operation, read.request)) == "1");
    CHECK(n_in(carts.ok(read.operation, read.request)) == "1");
    CHECK(n_in(carts.ok(read.operation, consistent(read))) == "2");
    CHECK(n_in(carts.ok(read.operation, read.request)) == "2");
    carts.put(item(1, 3));
    CHECK(n_in(carts.ok(read.operation, read.request)) == "2");
  }
}

TEST_CASE("transactions and conditions never read stale data", "[stale_reads]") {
  Carts carts;
  carts.rule({{"writes", 100}});
  carts.put(item(1, 2));
  SECTION("TransactGetItems reads the latest state") {
    const json get = {{"Get", {{"TableName", "carts"}, {"Key", key}}}};
    CHECK(n_in(carts.ok("TransactGetItems", {{"TransactItems", {get}}})) == "2");
    CHECK(n_in(carts.ok("GetItem", reads[0].request)) == "2");
  }
  SECTION("ExecuteTransaction reads the latest state") {
    const json statement = {{"Statement", R"(SELECT * FROM carts WHERE id = ? AND "at" = ?)"},
                            {"Parameters", parameters}};
    CHECK(n_in(carts.ok("ExecuteTransaction", {{"TransactStatements", {statement}}})) == "2");
  }
  SECTION("an update's condition and the value it adds to come from the latest state") {
    carts.ok("UpdateItem", {{"TableName", "carts"},
                            {"Key", key},
                            {"UpdateExpression", "SET n = n + :one"},
                            {"ConditionExpression", "n = :n"},
                            {"ExpressionAttributeValues", {{":one", {{"N", "1"}}}, {":n", {{"N", "2"}}}}}});
    CHECK(n_in(carts.ok("GetItem", reads[0].request)) == "1");  // an update does not end the lag
    CHECK(n_in(carts.ok("GetItem", consistent(reads[0]))) == "3");
  }
}

TEST_CASE("a global index lags separately from its table and shows the keys and order of the old state",
          "[stale_reads]") {
  Carts carts;
  const auto query = [&](const std::string& user) {
    json ns = json::array();
    const json answer = carts.ok("Query", {{"TableName", "carts"},
                                           {"IndexName", "by_user"},
                                           {"KeyConditionExpression", "#u = :u"},
                                           {"ExpressionAttributeNames", {{"#u", "user"}}},
                                           {"ExpressionAttributeValues", {{":u", {{"S", user}}}}}});
    for (const json& each : answer["Items"])
      ns.push_back(each["at"]["N"].get<std::string>() + ":" + n_in(each));
    CHECK(answer["Count"] == ns.size());
    std::sort(ns.begin(), ns.end());
    return ns;
  };
  carts.rule({{"writes", 3}, {"operation", "Query"}});
  const json before = query("u");
  CHECK(before == json({"1:1", "2:1"}));
  carts.rule({{"writes", 1}});
  carts.put(item(1, 2, "v"));
  CHECK(query("u") == before);
  CHECK(query("v").empty());
  // A consistent read of the table ends the table's lag, but not the index's lag.
  CHECK(n_in(carts.ok("GetItem", consistent(reads[0]))) == "2");
  CHECK(query("u") == before);
  carts.ok("DeleteItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", "a"}}}, {"at", {{"N", "2"}}}}}});
  CHECK(query("u") == json({"2:1"}));
  CHECK(query("v") == json({"1:2"}));
  CHECK(carts.control("POST", "/_mayfly/clock/advance",
                      {{"seconds", 0}, {"settle", "triggers"}})["settled"] == true);
  CHECK(query("u").empty());
}

TEST_CASE("the pages and segments of a lagging Scan together return exactly the old state", "[stale_reads]") {
  TestEmulator emulator;
  emulator.ok("CreateTable", {{"TableName", "carts"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
  const auto put = [&](int id, int n) {
    emulator.ok("PutItem",
                {{"TableName", "carts"},
                 {"Item", {{"id", {{"S", std::to_string(id)}}}, {"n", {{"N", std::to_string(n)}}}}}});
  };
  for (int id = 0; id < 40; ++id) put(id, 1);
  emulator.emulator().faults().set(emulator.scope.account,
                                   {{.kind = compat::FaultRule::Kind::stale_reads, .milliseconds = 1}});
  // Items 0 to 19 are deleted, 20 to 39 are changed, and 40 to 59 are new.
  for (int id = 0; id < 20; ++id)
    emulator.ok("DeleteItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", std::to_string(id)}}}}}});
  for (int id = 20; id < 60; ++id) put(id, 2);
  const auto scan = [&](json request) {
    std::set<std::string> seen;
    request["TableName"] = "carts";
    for (;;) {
      const json page = emulator.ok("Scan", request);
      for (const json& each : page["Items"])
        CHECK(seen.insert(each["id"]["S"].get<std::string>() + ":" + n_in(each)).second);
      if (!page.contains("LastEvaluatedKey")) return seen;
      request["ExclusiveStartKey"] = page["LastEvaluatedKey"];
    }
  };
  std::set<std::string> before, after, segments;
  for (int id = 0; id < 40; ++id) before.insert(std::to_string(id) + ":1");
  for (int id = 20; id < 60; ++id) after.insert(std::to_string(id) + ":2");
  CHECK(scan({}) == before);
  CHECK(scan({{"Limit", 7}}) == before);
  for (int segment = 0; segment < 3; ++segment)
    segments.merge(scan({{"Segment", segment}, {"TotalSegments", 3}, {"Limit", 5}}));
  CHECK(segments == before);
  emulator.advance(1ms);
  CHECK(scan({{"Limit", 7}}) == after);
}

TEST_CASE("a vector search lags like a global index", "[stale_reads]") {
  TestEmulator emulator;
  emulator.ok("CreateTable", {{"TableName", "notes"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                              {"VectorIndexes",
                               {{{"IndexName", "near"},
                                 {"VectorAttribute", {{"AttributeName", "v"}}},
                                 {"Projection", {{"ProjectionType", "KEYS_ONLY"}}},
                                 {"Dimensions", 1},
                                 {"DistanceFunction", "EUCLIDEAN"}}}}});
  const auto put = [&](const std::string& id) {
    emulator.ok("PutItem",
                {{"TableName", "notes"}, {"Item", {{"id", {{"S", id}}}, {"v", {{"L", {{{"N", "1"}}}}}}}}});
  };
  const auto found = [&] {
    return emulator
        .ok("SearchVectors", {{"TableName", "notes"},
                              {"IndexName", "near"},
                              {"SearchVector", {{{"N", "1"}}}},
                              {"TopK", 9}})["SearchResults"]
        .size();
  };
  put("a");
  emulator.emulator().faults().set(emulator.scope.account,
                                   {{.kind = compat::FaultRule::Kind::stale_reads, .writes = 1}});
  put("b");
  CHECK(found() == 1);
  emulator.ok("Scan", {{"TableName", "notes"}, {"ConsistentRead", true}});
  CHECK(found() == 1);
  put("c");
  CHECK(found() == 2);
}

TEST_CASE(
    "a stale_reads rule obeys its count and filters and strikes in the same pattern if the seed is the same",
    "[stale_reads]") {
  const auto pattern = [](const json& members) {
    Carts carts;
    carts.rule(members);
    std::string seen;
    for (int n = 2; n < 30; ++n) {
      carts.put(item(1, n));
      const int found = std::stoi(n_in(carts.ok("GetItem", reads[0].request)));
      seen += static_cast<char>('0' + n - found);
    }
    return seen;
  };
  CHECK(pattern({{"writes", 1}}) == std::string(28, '1'));
  CHECK(pattern({{"writes", 1}, {"count", 3}}) == "111" + std::string(25, '0'));
  CHECK(pattern({{"writes", 1}, {"operation", "Query"}}) == std::string(28, '0'));
  CHECK(pattern({{"writes", 1}, {"table", "orders"}}) == std::string(28, '0'));
  CHECK(pattern({{"writes", 1}, {"table", "carts"}, {"probability", 0}}) == std::string(28, '0'));
  const json some = {{"writes", 5}, {"probability", 0.5}, {"seed", 7}};
  const std::string once = pattern(some);
  CHECK(pattern(some) == once);
  CHECK(pattern({{"writes", 5}, {"probability", 0.5}, {"seed", 8}}) != once);
  for (const char behind : {'0', '1', '2'}) CHECK(once.find(behind) != std::string::npos);
  CHECK(once.find_first_not_of("012345") == std::string::npos);
}

TEST_CASE("control calls report how often a stale_reads rule struck and the memory that recent writes take",
          "[stale_reads]") {
  Carts carts;
  carts.rule({{"table", "carts"}, {"writes", 2}, {"milliseconds", 500}, {"count", 1}});
  carts.put(item(1, 2));
  static_cast<void>(carts.ok("GetItem", reads[0].request));
  static_cast<void>(carts.ok("GetItem", reads[0].request));
  static_cast<void>(carts.ok("GetItem", consistent(reads[0])));
  CHECK(
      carts.control("GET", "/_mayfly/faults", nullptr)["rules"] ==
      json::parse(R"([{"table":"carts","fault":"stale_reads","writes":2,"milliseconds":500,"count":1,"seed":0,
                         "asked":1,"struck":1}])"));
  const auto metrics = compat::control::answer(carts.emulator(), {.method = "GET",
                                                                  .path = "/_mayfly/metrics",
                                                                  .query = {},
                                                                  .body = {},
                                                                  .scope = carts.scope,
                                                                  .stop = {}});
  CHECK(metrics.body.find("\nmayfly_recent_write_bytes 0\n") == std::string::npos);
  CHECK(metrics.body.find("\nmayfly_recent_write_bytes ") != std::string::npos);
}

TEST_CASE("a lagging read sees all of a restored table or of a new replica", "[stale_reads][backups]") {
  Carts carts;
  carts.rule({{"writes", 9}});
  const json backup =
      carts.ok("CreateBackup", {{"TableName", "carts"}, {"BackupName", "both"}})["BackupDetails"];
  carts.ok("RestoreTableFromBackup", {{"TargetTableName", "again"}, {"BackupArn", backup["BackupArn"]}});
  CHECK(carts.ok("Scan", {{"TableName", "again"}})["Count"] == 2);

  carts.ok("UpdateTable",
           {{"TableName", "carts"}, {"ReplicaUpdates", {{{"Create", {{"RegionName", "eu-west-1"}}}}}}});
  carts.emulator().database().replication().settle_in_slices(carts.scope.account);
  carts.scope.region = "eu-west-1";
  CHECK(carts.ok("Scan", {{"TableName", "carts"}})["Count"] == 2);
  carts.put(item(3, 1));
  // From here on, the replica lags like any other table.
  CHECK(carts.ok("Scan", {{"TableName", "carts"}})["Count"] == 2);
}

TEST_CASE("a stale_reads rule does not affect another account", "[stale_reads]") {
  Carts carts;
  carts.scope.account = "000000000042";
  REQUIRE(carts.execute("CreateTable", indexed_carts).status == 200);
  carts.put(item(1, 1));
  carts.scope.account = "000000000000";
  carts.rule({{"writes", 9}});
  carts.scope.account = "000000000042";
  carts.put(item(1, 2));
  CHECK(n_in(carts.ok("GetItem", reads[0].request)) == "2");
}

}  // namespace mayfly::testing
