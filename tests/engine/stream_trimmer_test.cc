#include "engine/stream_trimmer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/parts.h"
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
  // Moves the host's clock, and lets everything that is due then happen.
  void move(Instant by) {
    clock->move(by);
    scheduler->run();
  }
  // The ids of the records that are left of the table's stream.
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

TEST_CASE("records go by themselves when they are older than a day, in lots a minute apart", "[trimmer]") {
  TrimmedWorld stepped;
  stepped.scheduler->run();  // before there is an account
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(minute_ms / 2);
  stepped.put("b");
  stepped.move(day_ms - minute_ms / 2);
  CHECK(stepped.left() == "ab");
  stepped.move(1);
  CHECK(stepped.left() == "b");
  stepped.move(minute_ms - 1);
  CHECK(stepped.left() == "b");  // old enough, and the lot before it is not a minute ago
  stepped.move(1);
  CHECK(stepped.left() == "");
  stepped.put("c");
  stepped.move(day_ms + minute_ms);
  CHECK(stepped.left() == "");
}

TEST_CASE("nothing is looked at before the oldest record is old enough, nor ever without streams",
          "[trimmer]") {
  TrimmedWorld stepped;
  stepped.world.create(simple_table("plain"));
  stepped.put("a", "plain");
  stepped.scheduler->run();
  for (int hour = 0; hour < 72; ++hour) {
    stepped.clock->move(hour_ms);
    CHECK_FALSE(stepped.scheduler->step_one());
  }
  stepped.world.database().update_table(
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

TEST_CASE("records age as fast as their account's clock goes, and not by what is jumped over", "[trimmer]") {
  TrimmedWorld stepped;
  Database& database = stepped.world.database();
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(0);
  REQUIRE(database.set_clock(account, {ClockSetting::Mode::frozen}, std::nullopt));
  stepped.move(3 * day_ms);
  CHECK(stepped.left() == "a");
  REQUIRE(database.set_clock(account, {ClockSetting::Mode::rate, 2}, std::nullopt));
  stepped.move(6 * hour_ms);
  database.advance(account, stepped.world.now() + 5 * day_ms);
  stepped.move(6 * hour_ms);
  CHECK(stepped.left() == "a");
  stepped.move(1);
  CHECK(stepped.left() == "");
  stepped.put("b");
  database.advance(account, stepped.world.now() + day_ms + 1, /*age_streams=*/true);
  CHECK(stepped.left() == "");  // when it returns
}

TEST_CASE("what a restore brings back goes when it is a day old", "[trimmer]") {
  TrimmedWorld stepped;
  Database& database = stepped.world.database();
  REQUIRE(database.set_clock(account, {ClockSetting::Mode::offset}, start_ms));
  stepped.world.create(streamed_table("carts"));
  stepped.put("a");
  stepped.move(23 * hour_ms);
  const SnapshotId id = database.take_snapshot(account);
  stepped.move(10 * hour_ms);
  CHECK(stepped.left() == "");
  REQUIRE(database.restore_snapshot(account, id));
  stepped.move(0);
  stepped.move(hour_ms);
  CHECK(stepped.left() == "a");
  stepped.move(1);
  CHECK(stepped.left() == "");
}

TEST_CASE("records go in time after a reset and after a move back", "[trimmer]") {
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
  database.advance(account, stepped.world.now() + 30 * day_ms, /*age_streams=*/true);
  stepped.move(0);
  database.reset(account);
  stepped.world.create(streamed_table("carts"));
  stepped.move(0);
  goes_after_a_day("after a reset");
  database.drop_table(stepped.world.find("carts"));
  REQUIRE(database.set_clock(account, {ClockSetting::Mode::offset}, start_ms - 30 * day_ms));
  stepped.world.create(streamed_table("carts"));
  stepped.move(0);
  goes_after_a_day("after a move back");
}

TEST_CASE("after a restart a record goes when it would have gone", "[trimmer]") {
  Directory directory;
  const auto clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler;
  // Each database has schedulers of its own, and ends them.
  World world({.directory = directory.path(), .clock = clock, .make_scheduler = [&](std::size_t threads_max) {
                 if (threads_max == 1) return std::make_shared<SteppedScheduler>(clock, 1);  // storage's
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

TEST_CASE("a trim that a restore overtakes takes nothing of what was brought back", "[trimmer]") {
  World world;
  Database& database = world.database();
  const StreamId stream = world.create(streamed_table("carts"))->description()->stream->id;
  world.put(world.find("carts"), {{"id", "a"}});
  world.advance(start_ms + 23 * hour_ms, /*age_streams=*/true);
  const SnapshotId id = database.take_snapshot(account);

  std::atomic<bool> ends{false};
  std::thread trimmer([&] {
    while (!ends) database.parts().trimmer->trim(database.parts().accounts.of(account));
  });
  for (int i = 0; i < 300; ++i) {
    world.put(world.find("carts"), {{"id", "b"}});
    world.advance(world.now() + 2 * hour_ms, /*age_streams=*/true);
    CHECK(world.records(stream).size() == 1);
    REQUIRE(database.restore_snapshot(account, id));
    const auto records = world.records(stream);
    CHECK(records.size() == 1);
    if (records.size() != 1) break;
    CHECK(*records[0].keys.find("id")->get_if<std::string>() == "a");
  }
  ends = true;
  trimmer.join();
  CHECK(world.inconsistency(world.find("carts")) == "");
}

TEST_CASE("trims of one stream at once forget what one alone forgets", "[trimmer]") {
  World world;
  Database& database = world.database();
  const auto carts = world.create(streamed_table("carts"));
  const StreamId stream = carts->description()->stream->id;
  std::atomic<bool> ends{false};
  std::thread trimmer([&] {
    while (!ends) database.parts().trimmer->trim(database.parts().accounts.of(account));
  });
  ShardNumber open = 0;
  Sequence oldest = 0;
  for (int i = 0; i < 300; ++i) {
    world.put(carts, {{"id", "a"}, {"n", number(i)}});
    if (i % 7 == 0) REQUIRE(database.reshard(carts, open++, Resharding::roll));
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
