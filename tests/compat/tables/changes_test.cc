#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "compat/settings/settings.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

constexpr auto for_ever = 1h;  // longer than any test
const json carts = {{"TableName", "carts"}};

json create_carts() {
  return {{"TableName", "carts"},
          {"BillingMode", "PAY_PER_REQUEST"},
          {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
          {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}};
}

json vector_index() {
  return {{"IndexName", "by_v"},
          {"VectorAttribute", {{"AttributeName", "v"}}},
          {"Projection", {{"ProjectionType", "ALL"}}},
          {"Dimensions", 1},
          {"DistanceFunction", "COSINE"}};
}

// An ACTIVE table whose changes take ten minutes on a clock that the test moves.
struct SlowChanges {
  compat::TableChanges::HostTime now{1h};
  TestEmulator emulator{[this] {
    compat::EmulatorOptions options;
    options.table_delay = 10min;
    options.host_clock = [this] { return now; };
    return options;
  }()};

  SlowChanges() {
    emulator.ok("CreateTable", create_carts());
    now += 10min;
  }
};

// Polls DescribeTable until the change ends, as an SDK's waiter does.
void wait_until_settled(TestEmulator& emulator) {
  while (true) {
    const auto answer = emulator.execute("DescribeTable", carts.dump());
    if (answer.status != 200 || json::parse(answer.body)["Table"]["TableStatus"] == "ACTIVE") return;
    std::this_thread::yield();
  }
}

TEST_CASE("without a delay a table becomes ACTIVE or is deleted immediately") {
  TestEmulator emulator;
  CHECK(emulator.ok("CreateTable", create_carts())["TableDescription"]["TableStatus"] == "CREATING");
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "ACTIVE");
  CHECK(emulator.ok("DeleteTable", carts)["TableDescription"]["TableStatus"] == "DELETING");
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":[]})");
}

TEST_CASE("a CREATING table is described and listed but cannot be used or changed") {
  TestEmulator emulator(for_ever);
  emulator.ok("CreateTable", create_carts());
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "CREATING");
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":["carts"]})");
  CHECK(emulator.run("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})") ==
        R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
        R"("message":"Requested resource not found"})");
  const std::string in_use =
      "Attempt to change a resource which is still in use: Table is being created: carts";
  CHECK(emulator.refused("CreateTable", create_carts()) == in_use);
  CHECK(emulator.refused("DeleteTable", carts) == in_use);
  CHECK(emulator.refused("UpdateTable", {{"TableName", "carts"}, {"DeletionProtectionEnabled", true}}) ==
        in_use);
  CHECK(emulator.refused("UpdateTimeToLive",
                         {{"TableName", "carts"},
                          {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}}) ==
        "Attempt to change a resource which is still in use: Table carts is being created");
  CHECK(emulator.refused("DescribeTimeToLive", carts) ==
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING");
  CHECK(emulator.refused("DescribeContinuousBackups", carts) == "Table not found: carts");
  CHECK(emulator.refused("UpdateContributorInsights",
                         {{"TableName", "carts"}, {"ContributorInsightsAction", "ENABLE"}}) ==
        "Table or Index is not in a valid state to update Key Access Insights: TableStatus must be ACTIVE to "
        "enable "
        "ContributorInsights.");

  emulator.scope.region = "eu-west-1";
  CHECK(emulator.refused("DescribeTable", carts) == "Requested resource not found: Table: carts not found");
}

TEST_CASE("changes to a table end after the configured delay") {
  TestEmulator emulator(20ms);
  emulator.ok("CreateTable", create_carts());
  wait_until_settled(emulator);
  emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
  CHECK(emulator.ok("UpdateTable",
                    {{"TableName", "carts"},
                     {"TableClass", "STANDARD_INFREQUENT_ACCESS"}})["TableDescription"]["TableStatus"] ==
        "UPDATING");
  wait_until_settled(emulator);
  emulator.ok("DeleteTable", carts);
  wait_until_settled(emulator);
  CHECK(emulator.refused("DescribeTable", carts) == "Requested resource not found: Table: carts not found");
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":[]})");
  emulator.ok("CreateTable", create_carts());
}

// Creates the table in the engine, where changes have no delay, so that it is ACTIVE immediately.
void make_settled_carts(TestEmulator& emulator) {
  engine::Table table;
  table.account = emulator.scope.account;
  table.region = emulator.scope.region;
  table.name = "carts";
  table.attribute_definitions = {{"id", engine::ScalarType::string}};
  table.keys = {table.attribute_definitions, {}};
  compat::keep_settings(table, {.on_demand = true});
  REQUIRE(emulator.emulator().database().tables().create(table));
}

TEST_CASE("an UPDATING table can be used but not changed again") {
  TestEmulator emulator(for_ever);
  make_settled_carts(emulator);
  const json announced = emulator.ok(
      "UpdateTable", {{"TableName", "carts"}, {"DeletionProtectionEnabled", true}})["TableDescription"];
  CHECK(emulator.ok("DescribeTable", carts)["Table"] == announced);
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "UPDATING");
  emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
  CHECK(emulator.refused("UpdateTable", {{"TableName", "carts"}, {"DeletionProtectionEnabled", false}}) ==
        "Attempt to change a resource which is still in use: Table is being updated: carts");
}

TEST_CASE("a new vector index is CREATING and cannot be searched until it is finished") {
  TestEmulator emulator(for_ever);
  make_settled_carts(emulator);
  const json wanted = vector_index();
  emulator.ok("UpdateTable", {{"TableName", "carts"}, {"VectorIndexUpdates", {{{"Create", wanted}}}}});
  const json index = emulator.ok("DescribeTable", carts)["Table"]["VectorIndexes"][0];
  CHECK(index["IndexStatus"] == "CREATING");
  CHECK(index["Backfilling"] == false);
  const json search = {
      {"TableName", "carts"}, {"IndexName", "by_v"}, {"SearchVector", {{{"N", "1"}}}}, {"TopK", 1}};
  CHECK(emulator.refused("SearchVectors", search) == "The table does not have the specified index: by_v");
  emulator.emulator().table_changes().settle_all(emulator.scope.account);
  CHECK_FALSE(emulator.ok("DescribeTable", carts)["Table"]["VectorIndexes"][0].contains("Backfilling"));
  CHECK(emulator.ok("SearchVectors", search)["SearchResults"].empty());
}

TEST_CASE("a new index is backfilled while its table is already ACTIVE again") {
  SlowChanges slow;
  TestEmulator& emulator = slow.emulator;
  auto& now = slow.now;
  const json vector = vector_index();
  const json global = {{"IndexName", "by_g"},
                       {"KeySchema", {{{"AttributeName", "g"}, {"KeyType", "HASH"}}}},
                       {"Projection", {{"ProjectionType", "ALL"}}}};
  const auto index_of = [&](const char* list) {
    return emulator.ok("DescribeTable", carts)["Table"][list][0];
  };
  const auto status = [&] { return emulator.ok("DescribeTable", carts)["Table"]["TableStatus"]; };
  const auto add = [&](bool is_vector) {
    emulator.ok("UpdateTable",
                is_vector ? json{{"TableName", "carts"}, {"VectorIndexUpdates", {{{"Create", vector}}}}}
                          : json{{"TableName", "carts"},
                                 {"AttributeDefinitions", {{{"AttributeName", "g"}, {"AttributeType", "S"}}}},
                                 {"GlobalSecondaryIndexUpdates", {{{"Create", global}}}}});
  };
  for (const bool is_vector : {true, false}) {
    const char* const list = is_vector ? "VectorIndexes" : "GlobalSecondaryIndexes";
    add(is_vector);
    CHECK(status() == "UPDATING");
    CHECK(index_of(list)["IndexStatus"] == "CREATING");
    CHECK(index_of(list)["Backfilling"] == false);
    now += 10min;
    CHECK(status() == "ACTIVE");
    CHECK(index_of(list)["IndexStatus"] == "CREATING");
    CHECK(index_of(list)["Backfilling"] == true);
    CHECK(emulator.refused("DeleteTable", carts) ==
          "Attempt to change a resource which is still in use: Table: carts is in the process of being "
          "updated.");
    if (is_vector) {
      CHECK(emulator.refused("SearchVectors", {{"TableName", "carts"},
                                               {"IndexName", "by_v"},
                                               {"SearchVector", {{{"N", "1"}}}},
                                               {"TopK", 1}}) ==
            "Cannot search backfilling vector index: by_v");
    }
    emulator.ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}});
    now += 10min;
    CHECK(index_of(list)["IndexStatus"] == "ACTIVE");
    CHECK_FALSE(index_of(list).contains("Backfilling"));
  }
}

TEST_CASE("a backfill continues during other changes and blocks the addition of another index") {
  SlowChanges slow;
  TestEmulator& emulator = slow.emulator;
  auto& now = slow.now;
  const auto add = [](const char* name) -> json {
    const json wanted = {{"IndexName", name},
                         {"VectorAttribute", {{"AttributeName", "v"}}},
                         {"Projection", {{"ProjectionType", "ALL"}}},
                         {"Dimensions", 1},
                         {"DistanceFunction", "COSINE"}};
    return {{"TableName", "carts"}, {"VectorIndexUpdates", {{{"Create", wanted}}}}};
  };
  const auto index = [&] { return emulator.ok("DescribeTable", carts)["Table"]["VectorIndexes"][0]; };
  emulator.ok("UpdateTable", add("by_v"));
  now += 11min;
  CHECK(emulator.refused("UpdateTable", add("by_w")) ==
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
  emulator.ok("UpdateTable", {{"TableName", "carts"}, {"DeletionProtectionEnabled", true}});
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "UPDATING");
  CHECK(index()["IndexStatus"] == "CREATING");
  CHECK(index()["Backfilling"] == true);
  now += 9min;  // the backfill has ended, and the other change has not
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "UPDATING");
  CHECK(index()["IndexStatus"] == "ACTIVE");
  now += 1min;
  CHECK(emulator.ok("DescribeTable", carts)["Table"]["TableStatus"] == "ACTIVE");
}

TEST_CASE("an index that is being backfilled can be deleted") {
  SlowChanges slow;
  TestEmulator& emulator = slow.emulator;
  auto& now = slow.now;
  const json wanted = vector_index();
  emulator.ok("UpdateTable", {{"TableName", "carts"}, {"VectorIndexUpdates", {{{"Create", wanted}}}}});
  now += 10min;
  emulator.ok("UpdateTable",
              {{"TableName", "carts"}, {"VectorIndexUpdates", {{{"Delete", {{"IndexName", "by_v"}}}}}}});
  const json described = emulator.ok("DescribeTable", carts)["Table"];
  CHECK(described["TableStatus"] == "UPDATING");
  CHECK(described["VectorIndexes"][0]["IndexStatus"] == "DELETING");
  now += 10min;
  CHECK_FALSE(emulator.ok("DescribeTable", carts)["Table"].contains("VectorIndexes"));
}

TEST_CASE("a DELETING table is listed and described and still occupies its name") {
  TestEmulator emulator(for_ever);
  make_settled_carts(emulator);
  const json going = emulator.ok("DeleteTable", carts)["TableDescription"];
  CHECK(going["TableStatus"] == "DELETING");
  CHECK(emulator.ok("DescribeTable", carts)["Table"] == going);
  CHECK(emulator.run("ListTables", "{}") == R"(200 {"TableNames":["carts"]})");
  CHECK(emulator.ok("DeleteTable", carts)["TableDescription"] == going);
  CHECK(emulator.refused("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}}) ==
        "Requested resource not found");
  const std::string in_use =
      "Attempt to change a resource which is still in use: Table is being deleted: carts";
  CHECK(emulator.refused("CreateTable", create_carts()) == in_use);
  CHECK(emulator.refused("UpdateTable", {{"TableName", "carts"}, {"DeletionProtectionEnabled", true}}) ==
        in_use);
}

TEST_CASE("settle_all completes the table changes of only one account") {
  compat::TableChanges changes(for_ever);
  const auto carts_of = [&](const std::string& account) {
    auto table = std::make_shared<engine::Table>();
    table->account = account;
    table->name = "carts";
    changes.begin({account, "us-east-1"}, {compat::TableStatus::creating, table});
  };
  carts_of("000000000000");
  carts_of("000000000042");
  changes.settle_all("000000000000");
  CHECK_FALSE(changes.find({"000000000000", "us-east-1"}, "carts"));
  CHECK(changes.status({"000000000042", "us-east-1"}, "carts") == compat::TableStatus::creating);
}

}  // namespace

}  // namespace mayfly::testing
