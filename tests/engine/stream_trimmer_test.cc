#include "engine/background/stream_trimmer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/background/history_size.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Table streamed_table(std::string name) {
  Table table = simple_table(std::move(name));
  table.stream = stream_of(StreamView::keys_only);
  return table;
}

struct TrimmedWorld {
  // Moves the host's clock and runs all steps that are due then.
  void move(Instant by) {
    clock->move(by);
    scheduler->run();
  }
  // The ids of the records that remain in the table's stream.
  std::string left(const std::string& table = "carts") {
    std::string ids;
    for (const ChangeRecord& record : world.records(world.find(table)->description()->stream->id))
      ids += *record.keys.find("id")->get_if<std::string>();
    return ids;
  }
  void put(std::string id, const std::string& table = "carts") {
    world.put(world.find(table), {{"id", std::move(id)}});
  }

  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler = std::make_shared<SteppedScheduler>(clock, 1);
  World world{{.clock = clock, .make_scheduler = [this](std::size_t) { return scheduler; }}};
};

}  // namespace

TEST_CASE("records older than a day are deleted automatically in batches a minute apart", "[trimmer]") {
  TrimmedWorld stepped;
  stepped.scheduler->run();  // no account exists yet
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(minute_ms / 2);
  stepped.put("b");
  stepped.move(day_ms - minute_ms / 2);
  CHECK(stepped.left() == "ab");
  stepped.move(1);
  CHECK(stepped.left() == "b");
  stepped.move(minute_ms - 1);
  CHECK(stepped.left() == "b");  // "b" is old enough, but the last batch was less than a minute ago
  stepped.move(1);
  CHECK(stepped.left() == "");
  stepped.put("c");
  stepped.move(day_ms + minute_ms);
  CHECK(stepped.left() == "");
}

TEST_CASE("the trimmer does not run without streams or before the oldest record is old enough", "[trimmer]") {
  TrimmedWorld stepped;
  stepped.world.create(simple_table("plain"));
  stepped.put("a", "plain");
  stepped.scheduler->run();
  for (int hour = 0; hour < 72; ++hour) {
    stepped.clock->move(hour_ms);
    CHECK_FALSE(stepped.scheduler->step_one());
  }
  stepped.world.database().tables().update(
      stepped.world.find("plain"), [](Table& table) { table.stream = stream_of(StreamView::keys_only); });
  stepped.put("b", "plain");
  stepped.scheduler->run();
  for (int hour = 0; hour < 24; ++hour) {
    stepped.clock->move(hour_ms);
    CHECK_FALSE(stepped.scheduler->step_one());
  }
  CHECK(stepped.left("plain") == "b");
  stepped.move(1);
  CHECK(stepped.left("plain") == "");
}

TEST_CASE("records age at the rate of their account's clock and not by jumps", "[trimmer]") {
  TrimmedWorld stepped;
  Database& database = stepped.world.database();
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(0);
  REQUIRE(database.time_travel().set(account, {ClockSetting::Mode::frozen}, std::nullopt));
  stepped.move(3 * day_ms);
  CHECK(stepped.left() == "a");
  REQUIRE(database.time_travel().set(account, {ClockSetting::Mode::rate, 2}, std::nullopt));
  stepped.move(6 * hour_ms);
  database.time_travel().advance(account, stepped.world.now() + 5 * day_ms);
  stepped.move(6 * hour_ms);
  CHECK(stepped.left() == "a");
  stepped.move(1);
  CHECK(stepped.left() == "");
  stepped.put("b");
  database.time_travel().advance(account, stepped.world.now() + day_ms + 1, /*age_streams=*/true);
  CHECK(stepped.left() == "");  // the records are deleted before advance() returns
}

TEST_CASE("records that a restore brings back are deleted when they are a day old", "[trimmer]") {
  TrimmedWorld stepped;
  Database& database = stepped.world.database();
  REQUIRE(database.time_travel().set(account, {ClockSetting::Mode::offset}, start_ms));
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(23 * hour_ms);
  const SnapshotId id = database.snapshots().take(account);
  stepped.move(10 * hour_ms);
  CHECK(stepped.left() == "");
  REQUIRE(database.snapshots().restore(account, id));
  stepped.move(0);
  stepped.move(hour_ms);
  CHECK(stepped.left() == "a");
  stepped.move(1);
  CHECK(stepped.left() == "");
}

TEST_CASE("records are deleted on time after a reset and after the clock is moved back", "[trimmer]") {
  TrimmedWorld stepped;
  Database& database = stepped.world.database();
  const auto goes_after_a_day = [&](const char* when) {
    INFO(when);
    stepped.put("a");
    stepped.move(day_ms);
    CHECK(stepped.left() == "a");
    stepped.move(minute_ms);
    CHECK(stepped.left() == "");
  };
  stepped.world.create(streamed_table("carts"));
  goes_after_a_day("at first");
  database.time_travel().advance(account, stepped.world.now() + 30 * day_ms, /*age_streams=*/true);
  stepped.move(0);
  database.snapshots().reset(account);
  stepped.world.create(streamed_table("carts"));
  stepped.move(0);
  goes_after_a_day("after a reset");
  database.tables().drop(stepped.world.find("carts"));
  REQUIRE(database.time_travel().set(account, {ClockSetting::Mode::offset}, start_ms - 30 * day_ms));
  stepped.world.create(streamed_table("carts"));
  stepped.move(0);
  goes_after_a_day("after a move back");
}

TEST_CASE("a restart does not change when a record is deleted", "[trimmer]") {
  TemporaryDirectory directory;
  const auto clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler;
  // Each database makes its own schedulers and ends them. Storage's scheduler has one thread.
  World world({.directory = directory.path(), .clock = clock, .make_scheduler = [&](std::size_t threads_max) {
                 if (threads_max == 1) return std::make_shared<SteppedScheduler>(clock, 1);
                 return scheduler = std::make_shared<SteppedScheduler>(clock, 1);
               }});
  const StreamId stream = world.create(streamed_table("carts"))->description()->stream->id;
  world.put(world.find("carts"), {{"id", "a"}});
  clock->move(day_ms / 2);
  world.reopen();
  scheduler->run();
  clock->move(day_ms / 2);
  scheduler->run();
  CHECK(world.records(stream).size() == 1);
  clock->move(1);
  scheduler->run();
  CHECK(world.records(stream).empty());
}

TEST_CASE("a trim that a restore overtakes deletes no restored records", "[trimmer]") {
  World world;
  Database& database = world.database();
  const StreamId stream = world.create(streamed_table("carts"))->description()->stream->id;
  world.put(world.find("carts"), {{"id", "a"}});
  world.advance(start_ms + 23 * hour_ms, /*age_streams=*/true);
  const SnapshotId id = database.snapshots().take(account);

  std::atomic<bool> ends{false};
  std::thread trimmer([&] {
    while (!ends) database.stream_trimmer().trim(database.accounts().of(account));
  });
  for (int i = 0; i < 300; ++i) {
    world.put(world.find("carts"), {{"id", "b"}});
    world.advance(world.now() + 2 * hour_ms, /*age_streams=*/true);
    CHECK(world.records(stream).size() == 1);
    REQUIRE(database.snapshots().restore(account, id));
    const auto records = world.records(stream);
    CHECK(records.size() == 1);
    if (records.size() != 1) break;
    CHECK(*records[0].keys.find("id")->get_if<std::string>() == "a");
  }
  ends = true;
  trimmer.join();
  CHECK(world.inconsistency(world.find("carts")) == "");
}

TEST_CASE("concurrent trims of a stream have the same effect as one trim", "[trimmer]") {
  World world;
  Database& database = world.database();
  const auto carts = world.create(streamed_table("carts"));
  const StreamId stream = carts->description()->stream->id;
  std::atomic<bool> ends{false};
  std::thread trimmer([&] {
    while (!ends) database.stream_trimmer().trim(database.accounts().of(account));
  });
  ShardNumber open = 0;
  Sequence oldest = 0;
  for (int i = 0; i < 300; ++i) {
    world.put(carts, {{"id", "a"}, {"n", number(i)}});
    if (i % 7 == 0) REQUIRE(database.tables().reshard(carts, open++, Resharding::roll));
    world.advance(world.now() + 5 * hour_ms, /*age_streams=*/true);
    const std::vector<ChangeRecord> records = world.records(stream);
    REQUIRE(!records.empty());
    CHECK(records.size() <= 5);
    CHECK(records.front().sequence >= oldest);
    oldest = records.front().sequence;
  }
  ends = true;
  trimmer.join();
}

}  // namespace mayfly::testing
