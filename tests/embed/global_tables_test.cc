// Runs the C++ example in docs/global_tables.md.
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>

#include "mayfly/mayfly.h"

using namespace std::chrono_literals;

namespace mayfly::testing {

namespace {

constexpr auto create_carts =
    R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
    R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})";

}  // namespace

TEST_CASE("a write with a replication lag is in flight until the clock advances") {
  mayfly::Emulator emulator;
  REQUIRE(emulator.execute("CreateTable", create_carts).status == 200);
  REQUIRE(emulator
              .execute("UpdateTable",
                       R"({"TableName":"carts","ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}]})")
              .status == 200);
  emulator.set_replication({.from = "us-east-1", .to = "eu-west-1", .lag = 500ms});
  emulator.freeze();
  REQUIRE(emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})").status == 200);
  CHECK(emulator.settle_replication() == 1);
  const auto there = [&] {
    return emulator
        .execute("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})",
                 {.account = {}, .region = "eu-west-1"})
        .body;
  };
  CHECK(there() == "{}");
  emulator.advance(500ms);
  CHECK(emulator.settle_replication() == 0);
  CHECK(there() == R"({"Item":{"id":{"S":"1"}}})");
  CHECK_THROWS_AS(emulator.set_replication({.from = "us-east-1", .to = "us-east-1"}), std::logic_error);
}

}  // namespace mayfly::testing
