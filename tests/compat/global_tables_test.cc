// Tests global tables under concurrent calls. Exactly one of several conflicting callers succeeds, and the
// tables stay consistent.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/background/replication.h"
#include "engine/database.h"
#include "tests/support/engine_world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

const nlohmann::json carts = {
    {"TableName", "carts"},
    {"BillingMode", "PAY_PER_REQUEST"},
    {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
    {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
};

nlohmann::json replica(const char* action, const std::string& region) {
  return {{"TableName", "carts"}, {"ReplicaUpdates", {{{action, {{"RegionName", region}}}}}}};
}

// Returns how many of four concurrent callers succeed. No caller may get a 500.
int succeed_at_once(TestEmulator& emulator, const std::string& operation, const nlohmann::json& body) {
  std::atomic<int> succeeded{0}, failed{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      const auto answer = emulator.emulator().execute({"000000000000", "us-east-1"},
                                                      "DynamoDB_20120810." + operation, body.dump());
      if (answer.status == 200) ++succeeded;
      if (answer.status >= 500) ++failed;
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(failed == 0);
  return succeeded;
}

}  // namespace

TEST_CASE("only one of several concurrent callers creates or deletes a replica") {
  TestEmulator emulator;
  emulator.ok("CreateTable", carts);
  for (int i = 0; i < 5; ++i) {
    CHECK(succeed_at_once(emulator, "UpdateTable", replica("Create", "eu-west-1")) == 1);
    CHECK(succeed_at_once(emulator, "UpdateTable", replica("Delete", "eu-west-1")) == 1);
  }
  CHECK(inconsistency(emulator.emulator().database()).empty());
}

TEST_CASE("an index created in two regions at once exists once in each region") {
  TestEmulator emulator;
  emulator.ok("CreateTable", carts);
  emulator.ok("UpdateTable", replica("Create", "eu-west-1"));
  for (int i = 0; i < 50; ++i)
    emulator.ok("PutItem", {{"TableName", "carts"},
                            {"Item", {{"id", {{"S", std::to_string(i)}}}, {"shop", {{"S", "s"}}}}}});
  const nlohmann::json create = {
      {"TableName", "carts"},
      {"AttributeDefinitions", {{{"AttributeName", "shop"}, {"AttributeType", "S"}}}},
      {"GlobalSecondaryIndexUpdates",
       {{{"Create",
          {{"IndexName", "by_shop"},
           {"KeySchema", {{{"AttributeName", "shop"}, {"KeyType", "HASH"}}}},
           {"Projection", {{"ProjectionType", "ALL"}}}}}}}}};
  std::vector<std::thread> callers;
  for (const std::string region : {"us-east-1", "eu-west-1"}) {
    callers.emplace_back([&, region] {
      emulator.emulator().execute({"000000000000", region}, "DynamoDB_20120810.UpdateTable", create.dump());
    });
  }
  for (std::thread& caller : callers) caller.join();
  emulator.emulator().database().replication().settle_in_slices("000000000000");
  for (const std::string region : {"us-east-1", "eu-west-1"}) {
    emulator.scope.region = region;
    const auto table = emulator.ok("DescribeTable", {{"TableName", "carts"}})["Table"];
    REQUIRE(table["GlobalSecondaryIndexes"].size() == 1);
    CHECK(table["GlobalSecondaryIndexes"][0]["ItemCount"] == 50);
  }
  CHECK(inconsistency(emulator.emulator().database()).empty());
}

TEST_CASE("dropping a replica during replication leaves consistent tables") {
  TestEmulator emulator;
  emulator.ok("CreateTable", carts);
  for (int i = 0; i < 5; ++i) {
    emulator.ok("UpdateTable", replica("Create", "eu-west-1"));
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      for (int n = 0; !stop; ++n) {
        const nlohmann::json put = {{"TableName", "carts"},
                                    {"Item", {{"id", {{"S", std::to_string(n % 9)}}}}}};
        const std::string region = n % 2 == 0 ? "us-east-1" : "eu-west-1";
        const auto answer =
            emulator.emulator().execute({"000000000000", region}, "DynamoDB_20120810.PutItem", put.dump());
        if (answer.status >= 500) std::abort();
      }
    });
    emulator.scope.region = "eu-west-1";
    emulator.ok("DeleteTable", {{"TableName", "carts"}});
    emulator.scope.region = "us-east-1";
    stop = true;
    writer.join();
    CHECK_FALSE(emulator.ok("DescribeTable", {{"TableName", "carts"}})["Table"].contains("Replicas"));
    CHECK(inconsistency(emulator.emulator().database()).empty());
  }
}

TEST_CASE("a replica disassociated while clients write keeps all earlier writes") {
  TestEmulator emulator;
  emulator.ok("CreateTable", carts);
  for (int i = 0; i < 5; ++i) {
    emulator.scope.region = "us-east-1";
    emulator.ok("UpdateTable", replica("Create", "eu-west-1"));
    emulator.scope.region = "eu-west-1";
    emulator.ok("UpdateTable", {{"TableName", "carts"}, {"DisassociationProtectionEnabled", false}});
    std::atomic<bool> stop{false};
    std::atomic<int> written{0};
    std::thread writer([&] {
      for (int n = 0; !stop; ++n) {
        const nlohmann::json put = {{"TableName", "carts"},
                                    {"Item", {{"id", {{"S", std::to_string(i) + "/" + std::to_string(n)}}}}}};
        const auto answer = emulator.emulator().execute({"000000000000", "us-east-1"},
                                                        "DynamoDB_20120810.PutItem", put.dump());
        if (answer.status != 200) std::abort();
        written = n + 1;
      }
    });
    while (written < 50) std::this_thread::yield();
    const int before = written;
    emulator.ok("UpdateTable",
                {{"TableName", "carts"},
                 {"ReplicaUpdates",
                  {{{"Disassociate",
                     {{"RegionName", "eu-west-1"}, {"DisassociationMode", "WAIT_FOR_REPLICATION"}}}}}}});
    const int after = written;
    stop = true;
    writer.join();
    CHECK_FALSE(emulator.ok("DescribeTable", {{"TableName", "carts"}})["Table"].contains("Replicas"));
    int there = 0;
    for (int n = 0; n < written; ++n) {
      const bool has =
          emulator
              .ok("GetItem", {{"TableName", "carts"},
                              {"Key", {{"id", {{"S", std::to_string(i) + "/" + std::to_string(n)}}}}}})
              .contains("Item");
      CHECK((has || n >= before));
      CHECK_FALSE((has && n > after));
      there += has;
    }
    CHECK(there >= before);
    CHECK(inconsistency(emulator.emulator().database()).empty());
    emulator.ok("DeleteTable", {{"TableName", "carts"}});
  }
}

TEST_CASE("with strong consistency a conflicting write is rejected and no accepted write is lost") {
  TestEmulator emulator;
  emulator.ok("CreateTable", carts);
  emulator.ok("UpdateTable",
              {{"TableName", "carts"},
               {"MultiRegionConsistency", "STRONG"},
               {"ReplicaUpdates",
                {{{"Create", {{"RegionName", "us-east-2"}}}}, {{"Create", {{"RegionName", "us-west-2"}}}}}}});
  std::atomic<int> added{0}, refused{0}, other{0};
  std::vector<std::thread> callers;
  for (const std::string region : {"us-east-1", "us-east-2", "us-west-2"}) {
    callers.emplace_back([&, region] {
      const std::string add =
          R"({"TableName":"carts","Key":{"id":{"S":"1"}},"UpdateExpression":"ADD n :one",)"
          R"("ExpressionAttributeValues":{":one":{"N":"1"}}})";
      for (int i = 0; i < 500; ++i) {
        const auto answer =
            emulator.emulator().execute({"000000000000", region}, "DynamoDB_20120810.UpdateItem", add);
        if (answer.status == 200) {
          ++added;
        } else if (answer.body.find("ReplicatedWriteConflictException") != std::string::npos) {
          ++refused;
        } else {
          ++other;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(other == 0);
  CHECK(added + refused == 1500);
  for (const std::string region : {"us-east-1", "us-east-2", "us-west-2"}) {
    emulator.scope.region = region;
    CHECK(
        emulator.ok("GetItem", {{"TableName", "carts"}, {"Key", {{"id", {{"S", "1"}}}}}})["Item"]["n"]["N"] ==
        std::to_string(added));
  }
}

}  // namespace mayfly::testing
