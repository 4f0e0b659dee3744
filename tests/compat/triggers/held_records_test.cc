// Records that wait for delivery take bounded memory, whatever the functions that receive them do.
#include "compat/triggers/held_records.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using Answer = TriggerWorld::Answer;
using std::chrono::milliseconds, std::chrono::seconds;

constexpr std::size_t no_bound = std::size_t{1} << 40;
constexpr int items = 1'000;

// Creates a stream with 256 shards and records of 1 KB.
std::string create_wide_stream(TriggerWorld& world) {
  const std::string arn = world.create_table("carts");
  engine::Database& database = world.triggers().database();
  for (int time = 0; time < 8; ++time)
    REQUIRE(database.tables().reshard(database.catalog().find(world.scope, "carts"), std::nullopt,
                                      engine::Resharding::split));
  const std::string more = R"(,"text":{"S":")" + std::string(1'000, 'x') + R"("})";
  for (int item = 0; item < items; ++item) world.put("carts", "i" + std::to_string(item), more);
  return arn;
}

// Waits until the maximum number of calls is in flight and no lane reads. Returns the bytes that lanes hold.
std::size_t bytes_at_rest(TriggerWorld& world) {
  const auto& held = world.triggers().held_records();
  std::size_t last = 0;
  for (int same = 0; same < 20;) {
    std::this_thread::sleep_for(milliseconds(10));
    const std::size_t now = held.bytes();
    same = now == last && world.calls("f").size() >= compat::triggers::Poller::calls_max ? same + 1 : 0;
    last = now;
  }
  return last;
}

}  // namespace

TEST_CASE("records that wait for a hanging function take bounded memory", "[triggers][held]") {
  const auto held_while_it_hangs = [](std::size_t bytes_max) {
    std::atomic<bool> hangs = true;
    TriggerWorld world({}, {}, 1'000, {}, bytes_max);
    world.function("f", [&](const json&) {
      hangs.wait(true);
      return Answer{.body = "null"};
    });
    const std::string arn = create_wide_stream(world);
    world.map(arn, "f");
    const std::size_t held = bytes_at_rest(world);
    hangs = false;
    hangs.notify_all();
    CHECK(world.settle().empty());
    CHECK(world.triggers().held_records().bytes() == 0);
    std::multiset<std::string> delivered;
    for (const json& event : world.calls("f"))
      for (const json& record : event["Records"]) delivered.insert(record["dynamodb"]["Keys"]["id"]["S"]);
    CHECK(delivered.size() == items);
    CHECK(std::set(delivered.begin(), delivered.end()).size() == items);
    return held;
  };
  const std::size_t all = held_while_it_hangs(no_bound);
  CHECK(all > items * 2'000);
  // 64 of 256 lanes have calls in flight.
  CHECK(held_while_it_hangs(100'000) < all / 2);
}

TEST_CASE("lanes that wait to retry a failing function release their records", "[triggers][held]") {
  TriggerWorld world({}, {}, 1'000, {}, 0);
  const std::string arn = create_wide_stream(world);
  world.triggers().functions().set(world.scope.account, "f",
                                   {*compat::outbound::Url::parse("http://functions/f")});
  world.map(arn, "f");
  const std::vector<compat::triggers::Triggers::Unfinished> unfinished = world.settle();
  CHECK(unfinished.size() == 1);
  const auto has_let_go = [&] { return world.triggers().held_records().bytes() == 0; };
  for (int tries = 0; tries < 500 && !has_let_go(); ++tries) std::this_thread::sleep_for(milliseconds(10));
  CHECK(has_let_go());

  world.function("f");
  CHECK(world.settle().empty());
  std::multiset<std::string> delivered;
  for (const json& event : world.calls("f"))
    for (const json& record : event["Records"]) delivered.insert(record["dynamodb"]["Keys"]["id"]["S"]);
  CHECK(std::set(delivered.begin(), delivered.end()).size() == items);
}

TEST_CASE("a batch that is read again has the same records despite later writes", "[triggers][held]") {
  const auto sizes = [](std::size_t bytes_max) {
    TriggerWorld world({}, {}, 1'000, {}, bytes_max);
    world.function("f", [](const json& event) {
      for (const json& record : event["Records"])
        if (record["dynamodb"]["Keys"]["id"]["S"] == "poison") return Answer{.status = 500};
      return Answer{.body = "null"};
    });
    const std::string arn = world.create_table("carts");
    for (const char* const id : {"a", "b", "c", "poison", "d", "e", "f", "g"}) world.put("carts", id);
    world.map(arn, "f", R"("BatchSize":8,"BisectBatchOnFunctionError":true,"MaximumRetryAttempts":2)");
    while (world.calls("f").empty()) std::this_thread::sleep_for(milliseconds(1));
    world.put("carts", "h");
    CHECK(world.settle().empty());
    return world.sizes("f");
  };
  const std::string expected = sizes(no_bound);
  CHECK(expected.starts_with("8 4"));
  CHECK(sizes(0) == expected);
}

}  // namespace mayfly::testing
