// Positions are part of the account's state: a restore returns mappings to their positions, even if shards
// were split or rolled over in the meantime.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/storage/documents.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

std::string take(TriggerWorld& world) { return world.control("POST /_mayfly/snapshots")["id"]; }
void restore(TriggerWorld& world, const std::string& id) {
  world.control("POST /_mayfly/snapshots/" + id + "/restore");
}

void reshard_one(TriggerWorld& world, engine::ShardNumber shard, engine::Resharding how) {
  engine::Database& database = world.triggers().database();
  REQUIRE(database.tables().reshard(database.catalog().find(world.scope, "carts"), shard, how));
}

}  // namespace

TEST_CASE("records written after a restore that undoes a split or a roll-over are delivered") {
  for (const auto how : {engine::Resharding::split, engine::Resharding::roll}) {
    for (const char* const settings : {"", R"("ParallelizationFactor":3)"}) {
      TriggerWorld world;
      world.function("f");
      world.map(world.create_table("carts"), "f", settings);
      world.put("carts", "a");
      CHECK(world.settle().empty());
      const std::string id = take(world);
      reshard_one(world, 0, how);
      world.put("carts", "b");
      CHECK(world.settle().empty());
      restore(world, id);
      world.put("carts", "c");
      CHECK(world.settle().empty());
      CHECK(world.delivered("f") == "a b c");
      // The new shards have the same numbers as the shards that the restore removed. No positions are stored
      // for the new shards.
      reshard_one(world, 0, how);
      world.put("carts", "d");
      CHECK(world.settle().empty());
      CHECK(world.delivered("f") == "a b c d");
      restore(world, id);
      restore(world, id);
      world.put("carts", "e");
      CHECK(world.settle().empty());
      CHECK(world.delivered("f") == "a b c d e");
    }
  }
}

TEST_CASE("records that were undelivered when a snapshot was taken are delivered after each restore of it") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  world.map(arn, "f");
  world.put("carts", "a");
  CHECK(world.settle().size() == 1);  // the function is not registered
  const std::string id = take(world);
  world.function("f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a");
  restore(world, id);
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a a");
}

TEST_CASE(
    "after a restore a mapping newer than the snapshot keeps its positions in shards that still exist") {
  TriggerWorld world;
  world.function("early");
  world.function("late");
  const std::string arn = world.create_table("carts");
  world.put("carts", "a");
  const std::string id = take(world);
  world.map(arn, "early");
  world.map(arn, "late", R"("StartingPosition":"LATEST")");
  reshard_one(world, 0, engine::Resharding::split);
  world.put("carts", "b");
  CHECK(world.settle().empty());
  restore(world, id);
  world.put("carts", "c");
  CHECK(world.settle().empty());
  CHECK(world.delivered("early") == "a b c");
  CHECK(world.delivered("late") == "b c");
  reshard_one(world, 0, engine::Resharding::roll);
  world.put("carts", "d");
  CHECK(world.settle().empty());
  CHECK(world.delivered("early") == "a b c d");
  CHECK(world.delivered("late") == "b c d");
}

TEST_CASE("a restore does not bring back the positions of a deleted mapping") {
  TriggerWorld world;
  world.function("f");
  const std::string uuid = world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  CHECK(world.settle().empty());
  const std::string id = take(world);
  world.rest("DELETE /2015-03-31/event-source-mappings/" + uuid);
  restore(world, id);
  CHECK(world.triggers().database().documents().list("@trigger-position").empty());
}

TEST_CASE("a restart does not change a restored account") {
  TemporaryDirectory directory;
  {
    TriggerWorld world(directory.path());
    world.function("f");
    world.map(world.create_table("carts"), "f");
    world.put("carts", "a");
    CHECK(world.settle().empty());
    const std::string id = take(world);
    reshard_one(world, 0, engine::Resharding::split);
    world.put("carts", "b");
    CHECK(world.settle().empty());
    restore(world, id);
  }
  TriggerWorld world(directory.path());
  world.endpoint("f", [](const nlohmann::json&) { return TriggerWorld::Answer{.body = "null"}; });
  world.put("carts", "c");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "c");
}

TEST_CASE("a restore or a reset does not wait for a hanging function") {
  std::atomic<bool> called{false}, hangs{true};
  TriggerWorld world;
  world.function("f", [&](const nlohmann::json&) {
    called = true;
    while (hangs) std::this_thread::yield();
    return TriggerWorld::Answer{.body = "null"};
  });
  const std::string arn = world.create_table("carts");
  const std::string id = take(world);
  world.map(arn, "f");
  world.put("carts", "a");
  while (!called) std::this_thread::yield();
  restore(world, id);
  world.control("POST /_mayfly/reset");
  CHECK(world.rest("GET /2015-03-31/event-source-mappings") == R"(200 {"EventSourceMappings":[]})");
  CHECK(world.triggers().database().documents().list("@trigger-position").empty());
  hangs = false;
}

}  // namespace mayfly::testing
