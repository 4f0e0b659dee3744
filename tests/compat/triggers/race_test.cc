// Runs all calls on mappings concurrently with each other and with writers, splits, restores, resets and
// shutdown.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "compat/calls/times.h"
#include "compat/control/control.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using Answer = TriggerWorld::Answer;

const std::string mappings = "/2015-03-31/event-source-mappings";

// Makes calls on one account. Several threads use a Crowd, so its methods contain no assertions: Catch
// supports assertions on only one thread.
class Crowd {
 public:
  explicit Crowd(TriggerWorld& world) : world_(world) {}

  void operation(const std::string& name, const std::string& body) {
    world_.emulator().execute(world_.scope, "DynamoDB_20120810." + name, body);
  }
  std::string control(const std::string& method, const std::string& path) {
    return compat::control::answer(
               world_.emulator(),
               {.method = method, .path = path, .query = {}, .body = {}, .scope = world_.scope})
        .body;
  }
  std::string stream() {
    const auto answer = world_.emulator().execute(world_.scope, "DynamoDB_20120810.DescribeTable",
                                                  R"({"TableName":"carts"})");
    const json table = json::parse(answer.body);
    return answer.status == 200 ? table["Table"].value("LatestStreamArn", "") : "";
  }
  void create_table() {
    operation("CreateTable", R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})");
  }
  std::string create_mapping(const std::string& function, int lanes) {
    const std::string answer =
        world_.rest("POST " + mappings, R"({"EventSourceArn":")" + stream() + R"(","FunctionName":")" +
                                            function + R"(","StartingPosition":"TRIM_HORIZON",)" +
                                            R"("ParallelizationFactor":)" + std::to_string(lanes) + "}");
    return answer.starts_with("202 ") ? json::parse(answer.substr(4))["UUID"].get<std::string>() : "";
  }
  std::vector<std::string> uuids() {
    std::vector<std::string> all;
    const json answer = json::parse(world_.rest("GET " + mappings).substr(4));
    for (const json& one : answer["EventSourceMappings"]) all.push_back(one["UUID"]);
    return all;
  }

 private:
  TriggerWorld& world_;
};

// Runs all functions concurrently, each `turns` times.
void together(const std::vector<std::function<void(int turn)>>& hands, int turns) {
  std::vector<std::jthread> threads;
  for (const auto& hand : hands) {
    threads.emplace_back([&hand, turns] {
      for (int turn = 0; turn < turns; ++turn) hand(turn);
    });
  }
}

}  // namespace

TEST_CASE("an account still works after mapping calls run concurrently with restores and resets") {
  TriggerWorld world;
  for (const char* const name : {"f0", "f1", "f2"}) world.function(name);
  world.function("fails", [](const json&) { return Answer{.status = 500}; });
  Crowd crowd(world);
  crowd.create_table();
  std::mutex mutex;
  std::string snapshot = world.control("POST /_mayfly/snapshots")["id"];
  const auto put_mapping = [&](int turn, const std::string& body) {
    const auto all = crowd.uuids();
    if (!all.empty())
      world.rest("PUT " + mappings + "/" + all[static_cast<std::size_t>(turn) % all.size()], body);
  };
  const std::vector<std::function<void(int)>> hands = {
      [&](int turn) { crowd.create_mapping("f" + std::to_string(turn % 3), turn % 4 + 1); },
      [&](int) { crowd.create_mapping("fails", 2); },
      [&](int turn) {
        put_mapping(turn, R"({"ParallelizationFactor":)" + std::to_string(turn % 10 + 1) + "}");
      },
      [&](int turn) { put_mapping(turn, turn % 2 == 0 ? R"({"Enabled":false})" : R"({"Enabled":true})"); },
      [&](int turn) {
        const auto all = crowd.uuids();
        if (turn % 3 == 0 && !all.empty()) world.rest("DELETE " + mappings + "/" + all.front());
      },
      [&](int turn) {
        for (int item = 0; item < 5; ++item) {
          crowd.operation("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(item) +
                                         R"("},"v":{"N":")" + std::to_string(turn) + R"("}}})");
        }
      },
      [&](int turn) {
        crowd.control("POST",
                      turn % 10 == 0 ? "/_mayfly/streams/carts/split" : "/_mayfly/streams/carts/roll");
      },
      [&](int turn) {
        if (turn % 4 == 0) {
          const json taken = json::parse(crowd.control("POST", "/_mayfly/snapshots"));
          const std::lock_guard lock(mutex);
          if (taken.contains("id")) snapshot = taken["id"];
        } else {
          std::string id;
          {
            const std::lock_guard lock(mutex);
            id = snapshot;
          }
          crowd.control("POST", "/_mayfly/snapshots/" + id + "/restore");
        }
      },
      [&](int turn) {
        if (turn % 8 != 7) return;
        crowd.control("POST", "/_mayfly/reset");
        crowd.create_table();
      },
      [&](int) { world.settle(std::chrono::milliseconds(5)); },
      [&](int turn) {
        if (turn % 2 == 0) world.triggers().functions().remove(world.scope.account, "f2");
        if (turn % 2 == 1)
          world.triggers().functions().set(world.scope.account, "f2",
                                           {*compat::outbound::Url::parse("http://functions/f2")});
      },
  };
  together(hands, 40);

  for (const std::string& uuid : crowd.uuids())
    CHECK(world.rest("DELETE " + mappings + "/" + uuid).starts_with("202 "));
  CHECK(crowd.uuids().empty());
  crowd.create_table();
  const auto before = world.calls("f0").size();
  REQUIRE(!crowd.create_mapping("f0", 3).empty());
  world.put("carts", "last");
  CHECK(world.settle().empty());
  const auto calls = world.calls("f0");
  const bool came = std::any_of(
      calls.begin() + static_cast<std::ptrdiff_t>(before), calls.end(),
      [](const json& event) { return event["Records"].back()["dynamodb"]["Keys"]["id"]["S"] == "last"; });
  CHECK(came);
}

TEST_CASE("every record is delivered while the number of lanes keeps changing") {
  std::mutex mutex;
  std::map<std::string, int> highest;
  TriggerWorld world;
  world.function("f", [&](const json& event) {
    const std::lock_guard lock(mutex);
    for (const json& record : event["Records"]) {
      int& seen = highest[record["dynamodb"]["Keys"]["id"]["S"]];
      seen = std::max(seen, std::stoi(record["dynamodb"]["NewImage"]["v"]["N"].get<std::string>()));
    }
    return Answer{.body = "null"};
  });
  const std::string uuid = world.map(world.create_table("carts"), "f");
  Crowd crowd(world);
  constexpr int turns = 60;
  together({[&](int turn) {
              for (int item = 0; item < 8; ++item) {
                crowd.operation("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"i)" +
                                               std::to_string(item) + R"("},"v":{"N":")" +
                                               std::to_string(turn + 1) + R"("}}})");
              }
            },
            [&](int turn) {
              world.rest("PUT " + mappings + "/" + uuid,
                         R"({"ParallelizationFactor":)" + std::to_string(turn * 7 % 10 + 1) + "}");
            },
            [&](int turn) {
              if (turn % 20 == 0) crowd.control("POST", "/_mayfly/streams/carts/split");
            }},
           turns);
  CHECK(world.settle().empty());
  const std::lock_guard lock(mutex);
  CHECK(highest.size() == 8);
  for (const auto& [id, seen] : highest) CHECK(seen == turns);
}

TEST_CASE("shutdown does not wait for hanging functions or calls in progress") {
  std::atomic<bool> hangs{true};
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> called{0};
    hangs = true;
    auto world = std::make_unique<TriggerWorld>();
    world->function("f", [&](const json&) {
      ++called;
      while (hangs) std::this_thread::yield();
      return Answer{.body = "null"};
    });
    Crowd crowd(*world);
    crowd.create_table();
    const std::string uuid = crowd.create_mapping("f", 4);
    for (int item = 0; item < 20; ++item) {
      crowd.operation("PutItem",
                      R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(item) + R"("}}})");
    }
    while (called < 2) std::this_thread::yield();
    if (round % 2 == 0) world->rest("DELETE " + mappings + "/" + uuid);
    if (round == 3) world->rest("PUT " + mappings + "/" + uuid, R"({"ParallelizationFactor":2})");
    world->end();  // returns although no function has responded
    hangs = false;
  }
  CHECK_FALSE(hangs);
}

}  // namespace mayfly::testing
