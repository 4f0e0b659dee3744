// A mapping's memory and work depend on the number of shards that have records to deliver, not on the number
// of all shards of its stream.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compat/triggers/shard_tree.h"
#include "engine/storage/documents.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using Answer = TriggerWorld::Answer;
using engine::Resharding;
using std::chrono::hours, std::chrono::milliseconds;

// Splits or rolls over all open shards.
void reshard(TriggerWorld& world, Resharding how) {
  engine::Database& database = world.triggers().database();
  REQUIRE(database.tables().reshard(database.catalog().find(world.scope, "carts"), std::nullopt, how));
}

std::size_t positions(TriggerWorld& world) {
  return world.triggers().database().documents().list("@trigger-position").size();
}

compat::triggers::Poller::Load load(TriggerWorld& world) {
  return world.triggers().load(world.scope.account);
}

std::string record_id(const json& record) { return record["dynamodb"]["Keys"]["id"]["S"]; }

}  // namespace

TEST_CASE("a mapping has neither lanes nor positions for open or closed shards without records",
          "[triggers][shards]") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  for (int time = 0; time < 6; ++time) reshard(world, Resharding::split);  // 64 open and 63 closed shards
  std::vector<std::string> uuids;
  for (const char* const name : {"f", "g", "h"}) {
    world.function(name);
    uuids.push_back(world.map(arn, name, R"("ParallelizationFactor":2)"));
  }
  CHECK(world.settle().empty());
  CHECK(load(world).lanes == 0);
  CHECK(positions(world) == 3);  // only the position where each mapping starts

  world.put("carts", "a");
  reshard(world, Resharding::roll);
  CHECK(world.settle().empty());
  for (const char* const name : {"f", "g", "h"}) CHECK(world.delivered(name) == "a");
  // The settle woke the lanes of the shard that has the record of "a" and that the roll-over closed. Each of
  // these lanes stores the shard's end as its position, and then ends.
  while (load(world).lanes > 0) std::this_thread::yield();
  CHECK(positions(world) == 3 + 3 * 2);

  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(load(world).lanes == 3 * 2);
  for (const std::string& uuid : uuids) world.rest("DELETE /2015-03-31/event-source-mappings/" + uuid);
  CHECK(positions(world) == 0);
}

TEST_CASE("a mapping's work per record does not depend on the number of shards", "[triggers][shards]") {
  const auto looks_per_record = [](int splits) {
    TriggerWorld world;
    world.function("f");
    const std::string arn = world.create_table("carts");
    for (int time = 0; time < splits; ++time) reshard(world, Resharding::split);
    world.map(arn, "f");
    for (int item = 0; item < 200; ++item) world.put("carts", std::to_string(item));
    CHECK(world.settle().empty());
    const std::uint64_t before = load(world).looks;
    for (int time = 0; time < 10; ++time) {
      const std::size_t calls = world.calls("f").size();
      world.put("carts", "a", R"(,"n":{"N":")" + std::to_string(time) + "\"}");
      while (world.calls("f").size() == calls) std::this_thread::yield();
    }
    return (load(world).looks - before) / 10;
  };
  CHECK(looks_per_record(0) <= 2);
  CHECK(looks_per_record(6) <= 2);  // 64 open shards, each with lanes
}

TEST_CASE("records in a long chain of shards arrive in order and each shard is examined only a few times",
          "[triggers][shards]") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  constexpr int shards = 400;
  std::string all;
  for (int shard = 0; shard < shards; ++shard) {
    const std::string id = std::to_string(shard);
    world.put("carts", id);
    all += (shard == 0 ? "" : " ") + id;
    reshard(world, Resharding::roll);
  }
  world.map(arn, "f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == all);
  CHECK(load(world).looks <= 6 * shards);
  CHECK(load(world).lanes == 0);
  CHECK(load(world).waiting == 0);
}

TEST_CASE("records wait for those of an ancestor shard even if shards in between are empty",
          "[triggers][shards]") {
  TriggerWorld world;
  std::atomic<bool> fails = true;
  world.function("f", [&](const json&) { return Answer{.status = fails ? 500 : 200, .body = "null"}; });
  world.map(world.create_table("carts"), "f");
  world.put("carts", "a");
  while (world.calls("f").empty()) std::this_thread::yield();
  for (int time = 0; time < 5; ++time) reshard(world, Resharding::roll);
  world.put("carts", "b");
  reshard(world, Resharding::split);
  world.put("carts", "c");
  CHECK(world.settle(milliseconds(50)).size() == 1);
  CHECK(load(world).lanes == 1);
  CHECK(load(world).waiting == 2);
  fails = false;
  CHECK(world.settle().empty());
  CHECK(load(world).waiting == 0);
  std::string last_three;
  for (const json& event : world.calls("f")) {
    for (const json& record : event["Records"])
      if (last_three.empty() || record_id(record) != "a") last_three += record_id(record);
  }
  CHECK(last_three == "abc");
}

TEST_CASE("a mapping that starts at LATEST receives no earlier records", "[triggers][shards]") {
  for (const char* const settings : {"", R"(,"ParallelizationFactor":3)"}) {
    TemporaryDirectory directory;
    {
      TriggerWorld world(directory.path());
      world.function("f");
      const std::string arn = world.create_table("carts");
      for (int time = 0; time < 4; ++time) {
        for (int item = 0; item < 20; ++item) world.put("carts", "old" + std::to_string(item));
        reshard(world, Resharding::split);
      }
      for (int item = 0; item < 20; ++item)
        world.put("carts", "old" + std::to_string(item), R"(,"n":{"N":"1"})");
      world.map(arn, "f", R"("StartingPosition":"LATEST")" + std::string(settings));
      CHECK(world.settle().empty());
      CHECK(load(world).lanes == 0);
      CHECK(positions(world) == 1);
      CHECK(world.calls("f").empty());
      world.triggers().functions().remove(world.scope.account, "f");
      world.put("carts", "a");
    }
    TriggerWorld world(directory.path());
    world.function("f");
    reshard(world, Resharding::split);
    world.put("carts", "b");
    CHECK(world.settle().empty());
    std::string ids = world.delivered("f");
    CHECK((ids == "a b" || ids == "b a"));  // the records are in two shards, or in a shard and its child
  }
}

TEST_CASE("positions that an earlier version stored without a mapping's starting position remain valid",
          "[triggers][shards]") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  world.put("carts", "a");
  world.put("carts", "b");
  reshard(world, Resharding::roll);
  world.put("carts", "c");
  const std::string uuid = world.map(arn, "f", R"("Enabled":false)");
  engine::Documents& documents = world.triggers().database().documents();
  for (const engine::Document& document : documents.list("@trigger-position")) documents.erase(document.name);
  const std::string prefix = "us-east-1/" + uuid + "/";
  documents.put({world.scope.account, "@trigger-position", prefix + "0/0-1"}, R"({"next":2,"done":false})");
  documents.put({world.scope.account, "@trigger-position", prefix + "1/0-1"}, R"({"next":0,"done":false})");
  world.rest("PUT /2015-03-31/event-source-mappings/" + uuid, R"({"Enabled":true})");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "b c");
  reshard(world, Resharding::roll);
  world.put("carts", "d");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "b c d");
}

TEST_CASE("positions and lanes in shards that the stream has dropped are deleted", "[triggers][shards]") {
  TriggerWorld world;
  world.function("f");
  world.map(world.create_table("carts"), "f");
  for (int shard = 0; shard < 5; ++shard) {
    world.put("carts", "a" + std::to_string(shard));
    reshard(world, Resharding::roll);
  }
  CHECK(world.settle().empty());
  while (load(world).lanes > 0) std::this_thread::yield();
  CHECK(positions(world) == 1 + 5);
  world.put("carts", "b");
  CHECK(world.settle().empty());
  CHECK(load(world).lanes == 1);
  reshard(world, Resharding::roll);
  world.advance(hours(25), true);  // the lane still waits at the end of a shard that was dropped
  world.put("carts", "c");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a0 a1 a2 a3 a4 b c");
  while (load(world).lanes != 1) std::this_thread::yield();
  while (positions(world) != 1 + 1) std::this_thread::yield();
}

TEST_CASE(
    "records that wait for an ancestor shard outlive their table and are delivered again after a restore",
    "[triggers][shards]") {
  for (const bool deletes : {false, true}) {
    TriggerWorld world;
    std::atomic<bool> fails = true;
    std::mutex mutex;
    std::string taken;
    world.function("f", [&](const json& event) {
      if (fails) return Answer{.status = 500};
      const std::lock_guard lock(mutex);
      for (const json& record : event["Records"]) taken += record_id(record);
      return Answer{.body = "null"};
    });
    world.map(world.create_table("carts"), "f");
    world.put("carts", "a");
    for (const char* const id : {"b", "c"}) {
      reshard(world, Resharding::roll);
      reshard(world, Resharding::roll);
      world.put("carts", id);
    }
    CHECK(world.settle(milliseconds(50)).size() == 1);
    CHECK(load(world).waiting == 2);
    const std::string snapshot = world.control("POST /_mayfly/snapshots")["id"];
    if (deletes) world.operation("DeleteTable", R"({"TableName":"carts"})");
    fails = false;
    CHECK(world.settle().empty());
    {
      const std::lock_guard lock(mutex);
      CHECK(taken == "abc");
    }
    world.control("POST /_mayfly/snapshots/" + snapshot + "/restore");
    CHECK(world.settle().empty());
    const std::lock_guard lock(mutex);
    CHECK(taken == "abcabc");
  }
}

TEST_CASE("a mapping that starts at TRIM_HORIZON receives all records that are not trimmed",
          "[triggers][shards]") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  world.put("carts", "old");
  reshard(world, Resharding::split);
  world.put("carts", "old");
  world.advance(hours(25), true);
  world.put("carts", "a");
  reshard(world, Resharding::roll);
  world.put("carts", "a", R"(,"n":{"N":"1"})");
  world.map(arn, "f");
  CHECK(world.settle().empty());
  CHECK(world.delivered("f") == "a a");
}

TEST_CASE("a mapping misses no record while shards split and other mappings are created and deleted",
          "[triggers][shards]") {
  TriggerWorld world;
  std::mutex mutex;
  std::map<std::string, std::vector<int>> versions;
  world.function("stays", [&](const json& event) {
    const std::lock_guard lock(mutex);
    for (const json& record : event["Records"])
      versions[record_id(record)].push_back(
          std::stoi(record["dynamodb"]["NewImage"]["v"]["N"].get<std::string>()));
    return Answer{.body = "null"};
  });
  world.function("goes");
  const std::string arn = world.create_table("carts");
  world.map(arn, "stays", R"("ParallelizationFactor":2)");
  constexpr int turns = 60;
  const std::string mappings = "/2015-03-31/event-source-mappings";
  std::atomic<bool> written = false;
  {
    std::jthread writes([&] {
      for (int turn = 0; turn < turns; ++turn) {
        for (int item = 0; item < 8; ++item) {
          world.emulator().execute(world.scope, "DynamoDB_20120810.PutItem",
                                   R"({"TableName":"carts","Item":{"id":{"S":"i)" + std::to_string(item) +
                                       R"("},"v":{"N":")" + std::to_string(turn) + R"("}}})");
        }
      }
      written = true;
    });
    std::jthread splits([&] {
      engine::Database& database = world.triggers().database();
      for (int turn = 0; !written; ++turn) {
        static_cast<void>(
            database.tables().reshard(database.catalog().find(world.scope, "carts"), std::nullopt,
                                      turn % 8 == 0 && turn < 40 ? Resharding::split : Resharding::roll));
      }
    });
    std::jthread maps([&] {
      while (!written) {
        const std::string answer = world.rest(
            "POST " + mappings,
            R"({"EventSourceArn":")" + arn + R"(","FunctionName":"goes","StartingPosition":"TRIM_HORIZON"})");
        if (answer.starts_with("202 "))
          world.rest("DELETE " + mappings + "/" + json::parse(answer.substr(4))["UUID"].get<std::string>());
      }
    });
    std::jthread settles([&] {
      while (!written) world.settle(milliseconds(2));
    });
  }
  CHECK(world.settle().empty());
  CHECK(load(world).waiting == 0);
  std::vector<int> all(turns);
  for (int turn = 0; turn < turns; ++turn) all[static_cast<std::size_t>(turn)] = turn;
  const std::lock_guard lock(mutex);
  CHECK(versions.size() == 8);
  for (const auto& [id, seen] : versions) CHECK(seen == all);
}

TEST_CASE("a shard tree finds the nearest ancestor that ever had a record", "[triggers][shards]") {
  engine::Stream stream;
  const auto add = [&](engine::ShardNumber number, std::optional<engine::ShardNumber> parent,
                       engine::Sequence first, std::optional<engine::Sequence> last) {
    engine::Shard shard;
    shard.number = number;
    if (parent) shard.parent = engine::Shard::Parent{*parent, 0};
    shard.first_sequence = first;
    shard.oldest_sequence = first;
    if (last) shard.closed = 1;
    shard.last_sequence = last;
    stream.shards.push_back(shard);
  };
  add(4, 1, 1, 9);    // its parent was dropped
  add(5, 4, 10, 9);   // this shard had no record
  add(6, 5, 10, 9);   // this shard also had no record
  add(8, 6, 10, 12);  // number 7 was dropped
  add(9, 6, 10, {});
  add(10, 8, 13, {});
  stream.shards[0].oldest_sequence = 10;  // all of its records were trimmed
  const compat::triggers::ShardTree tree(std::make_shared<const engine::Stream>(stream));
  const auto ancestor = [&](engine::ShardNumber number) -> std::optional<engine::ShardNumber> {
    const engine::Shard* const found = tree.written_ancestor(*tree.find(number));
    return found == nullptr ? std::nullopt : std::optional(found->number);
  };
  CHECK(ancestor(4) == std::nullopt);
  CHECK(ancestor(5) == 4);
  CHECK(ancestor(6) == 4);
  CHECK(ancestor(8) == 4);
  CHECK(ancestor(9) == 4);
  CHECK(ancestor(10) == 8);
  CHECK(tree.find(7) == nullptr);
  CHECK(tree.forgotten() == 5);
}

TEST_CASE("mappings of a stream share one shard tree until the shards change", "[triggers][shards]") {
  TriggerWorld world;
  world.create_table("carts");
  engine::Database& database = world.triggers().database();
  const auto table = database.catalog().find(world.scope, "carts")->description();
  compat::triggers::StreamShards shards(database, table->stream->id);
  const auto first = shards.present();
  REQUIRE(first);
  world.put("carts", "a");
  CHECK(shards.present() == first);
  reshard(world, Resharding::split);
  const auto second = shards.present();
  CHECK(second != first);
  CHECK(second->stream().shards.size() == 3);
  CHECK(compat::triggers::StreamShards(database, table->stream->id + 1).present() == nullptr);
}

}  // namespace mayfly::testing
