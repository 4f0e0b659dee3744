#include "engine/background/time_travel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/items/expiry_view.h"
#include "engine/items/failpoints.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

using Mode = ClockSetting::Mode;

std::shared_ptr<LiveTable> carts_of(World& world, std::string_view owner) {
  Table description = simple_table("carts");
  description.account = owner;
  description.stream = stream_of(StreamView::new_and_old_images);
  auto table = world.create(description);
  world.enable_ttl(table);
  return table;
}

Item expiring_after(const std::string& id, std::int64_t in_seconds) {
  return {{"id", id}, {"ttl", number(start_seconds + in_seconds)}};
}

}  // namespace

TEST_CASE("time never goes back even while a clock is moved", "[time_travel][holds]") {
  World world({.clock = std::make_shared<SystemClock>(), .reap = false});
  Database& database = world.database();
  world.put(carts_of(world, account), expiring_after("a", 60));
  // At this rate, seconds pass between any two reads of the clock.
  REQUIRE(database.time_travel().set(account, {Mode::rate, 1e6}, std::nullopt));
  std::atomic<bool> ends{false};
  std::atomic<Instant> went_back{0};
  std::thread reader([&] {
    for (Instant latest = 0; !ends;) {
      const Instant now = database.accounts().of(account).now();
      if (now < latest) went_back = latest - now;
      latest = now;
    }
  });
  for (int i = 0; i < 2000; ++i)
    REQUIRE(database.time_travel().advance_by(account, std::chrono::milliseconds(1)));
  ends = true;
  reader.join();
  CHECK(went_back == 0);
}

TEST_CASE("a clock that cannot be stored does not go back after a restart", "[time_travel][holds]") {
  const TemporaryDirectory directory;
  for (const bool age_streams : {true, false}) {
    for (int failing = 0; failing < 3; ++failing) {
      INFO("streams age: " << age_streams << ", write " << failing << " fails");
      auto writes_left = std::make_shared<int>(-1);
      Instant seen = 0;
      {
        World world({.directory = directory.path(), .reap = false, .write_fails = [=] {
                       return *writes_left >= 0 && (*writes_left)-- == 0;
                     }});
        Database& database = world.database();
        REQUIRE(database.time_travel().set(account, {Mode::frozen}, std::nullopt));
        if (database.catalog().find(Scope{std::string(account), "us-east-1"}, "carts") == nullptr)
          world.put(carts_of(world, account), expiring_after("a", 60));
        const Instant before = database.accounts().of(account).now();
        *writes_left = failing;
        bool failed = false;
        try {
          static_cast<void>(
              database.time_travel().advance_by(account, std::chrono::milliseconds(hour_ms), age_streams));
        } catch (const StorageFault&) {
          failed = true;
        }
        *writes_left = -1;
        seen = database.accounts().of(account).now();
        CHECK(seen >= before);
        if (failed && failing == 0) CHECK(seen == before);
      }
      World world({.directory = directory.path(), .reap = false});
      CHECK(world.database().accounts().of(account).now() >= seen);
    }
  }
}

TEST_CASE("each account has its own clock", "[time_travel][holds]") {
  World world;
  auto mine = carts_of(world, account), theirs = carts_of(world, other_account);
  world.put(mine, expiring_after("a", 60));
  world.put(theirs, expiring_after("a", 60));
  const Advanced advanced = world.database().time_travel().advance(account, start_ms + 48 * hour_ms);
  CHECK(advanced.now == start_ms + 48 * hour_ms);
  CHECK(advanced.expired == 1);
  CHECK(advanced.tables == Deletions{{"carts", 1}});
  CHECK_FALSE(advanced.next_expiry);
  CHECK_FALSE(world.get(mine, {{"id", "a"}}));
  CHECK(world.database().accounts().of(other_account).now() == start_ms);
  CHECK(world.get(theirs, {{"id", "a"}}));
}

TEST_CASE("frozen and offset and scaled clocks show the expected time", "[time_travel]") {
  World world;
  Database& database = world.database();
  CHECK(database.accounts().of(account).clock().setting() == ClockSetting{Mode::real});

  REQUIRE(database.time_travel().set(account, {Mode::frozen}, start_ms + 10));
  world.clock().set(start_ms + 1000);
  CHECK(world.now() == start_ms + 10);

  REQUIRE(database.time_travel().set(account, {Mode::offset}, std::nullopt));  // starts at the current time
  world.clock().set(start_ms + 1500);
  CHECK(world.now() == start_ms + 10 + 500);

  REQUIRE(database.time_travel().set(account, {Mode::rate, 60}, std::nullopt));
  world.clock().set(start_ms + 2500);
  CHECK(world.now() == start_ms + 510 + 60'000);
  CHECK(world.database().accounts().of(account).clock().real_time_until(world.now() + 1) == std::nullopt);

  // The account has no tables, so its clock may go back, even to real time.
  REQUIRE(database.time_travel().set(account, {Mode::real}, std::nullopt));
  CHECK(world.now() == start_ms + 2500);
}

TEST_CASE("an advance keeps a frozen or scaled clock's mode and turns real time into an offset",
          "[time_travel]") {
  World world;
  Database& database = world.database();
  database.time_travel().advance(account, start_ms + 100);
  CHECK(database.accounts().of(account).clock().setting() == ClockSetting{Mode::offset});
  REQUIRE(database.time_travel().set(account, {Mode::frozen}, std::nullopt));
  database.time_travel().advance(account, start_ms + 200);
  CHECK(database.accounts().of(account).clock().setting() == ClockSetting{Mode::frozen});
  REQUIRE(database.time_travel().set(account, {Mode::rate, 2}, std::nullopt));
  database.time_travel().advance(account, start_ms + 300);
  CHECK(database.accounts().of(account).clock().setting() == ClockSetting{Mode::rate, 2});
  world.clock().set(start_ms + 50);
  CHECK(world.now() == start_ms + 400);
}

TEST_CASE("setting a clock to a later time deletes expired items as an advance does", "[time_travel]") {
  World world;
  auto carts = carts_of(world, account);
  world.put(carts, expiring_after("a", 60));
  const auto advanced = world.database().time_travel().set(account, {Mode::frozen}, start_ms + hour_ms);
  REQUIRE(advanced);
  CHECK(advanced->expired == 1);
  CHECK(world.records(carts->description()->stream->id).back().created == start_ms + 60'001);
}

TEST_CASE("only an account without tables can set its clock back", "[time_travel]") {
  World world;
  constexpr Instant year_2020 = 1'577'836'800'000;
  auto carts = carts_of(world, account);
  const auto refused = world.database().time_travel().set(account, {Mode::frozen}, year_2020);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == ClockRefusal::has_tables);
  CHECK(world.now() == start_ms);
  REQUIRE(world.database().time_travel().set(other_account, {Mode::frozen}, year_2020));
  CHECK(world.database().accounts().of(other_account).now() == year_2020);
}

TEST_CASE("an advance to the next expiry stops at that instant or does not move if no expiry is left",
          "[time_travel]") {
  World world;
  auto carts = carts_of(world, account);
  world.put(carts, expiring_after("renewed", 10));
  world.put(carts, expiring_after("renewed", 1000));
  world.put(carts, expiring_after("a", 60));
  world.put(carts, expiring_after("b", 60));
  const Advanced first = world.database().time_travel().advance_to_next_expiry(account);
  CHECK(first.now == start_ms + 60'001);
  CHECK(first.expired == 2);
  CHECK(first.next_expiry == start_ms + 1'000'001);
  CHECK(world.database().time_travel().advance_to_next_expiry(account).expired == 1);
  const Advanced last = world.database().time_travel().advance_to_next_expiry(account);
  CHECK(last.now == start_ms + 1'000'001);
  CHECK(last.expired == 0);
}

TEST_CASE("during an advance the clock visits each due instant and never goes back", "[time_travel]") {
  World world;
  auto carts = carts_of(world, account);
  for (int i = 0; i < 200; ++i) world.put(carts, expiring_after(std::to_string(i), i));
  std::atomic<bool> stop{false};
  std::atomic<bool> backwards{false};
  std::thread reader([&] {
    for (Instant before = 0; !stop;) {
      const Instant now = world.now();
      if (now < before) backwards = true;
      before = now;
    }
  });
  world.advance(start_ms + hour_ms);
  stop = true;
  reader.join();
  CHECK_FALSE(backwards);
  std::vector<Instant> created;
  for (const ChangeRecord& record : world.records(carts->description()->stream->id))
    if (record.kind == ChangeRecord::Kind::remove) created.push_back(record.created - start_ms);
  REQUIRE(created.size() == 200);
  for (int i = 0; i < 200; ++i) CHECK(created[static_cast<std::size_t>(i)] == i * 1000 + 1);
}

TEST_CASE("after a restart a frozen clock is unchanged and other clocks have moved on", "[time_travel]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  const auto set = [&](std::string_view owner, ClockSetting setting, Instant now) {
    REQUIRE(world.database().time_travel().set(owner, setting, now));
  };
  set("000000000001", {Mode::frozen}, start_ms + hour_ms);
  set("000000000002", {Mode::offset}, start_ms + hour_ms);
  set("000000000003", {Mode::rate, 60}, start_ms + hour_ms);
  world.close();
  world.clock().set(start_ms + 1000);
  world.reopen();
  CHECK(world.database().accounts().of("000000000001").now() == start_ms + hour_ms);
  CHECK(world.database().accounts().of("000000000002").now() == start_ms + hour_ms + 1000);
  CHECK(world.database().accounts().of("000000000003").now() == start_ms + hour_ms + 60'000);
  CHECK(world.database().accounts().of("000000000004").now() == start_ms + 1000);
}

TEST_CASE("a clock with a configured start continues after a restart if its account has a table",
          "[time_travel]") {
  const auto goes_on = [](ClockSetting setting, Instant after) {
    const TemporaryDirectory directory;
    World world({.directory = directory.path(),
                 .account_clocks = {.setting = setting, .now = start_ms + hour_ms},
                 .reap = false});
    const auto carts = carts_of(world, account);
    world.put(carts, expiring_after("a", 3600 + 1));
    world.close();
    world.clock().set(start_ms + 5000);
    world.reopen();
    CHECK(world.now() == after);
    CHECK(world.database().accounts().of(other_account).now() ==
          start_ms + hour_ms);  // without tables, the clock starts over
  };
  goes_on({Mode::frozen}, start_ms + hour_ms);
  goes_on({Mode::offset}, start_ms + hour_ms + 5000);
  goes_on({Mode::rate, 60}, start_ms + hour_ms + 5 * minute_ms);
}

TEST_CASE("a clock that moves while its account's first table is created is stored with its new time",
          "[time_travel][holds]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(),
               .account_clocks = {.setting = {Mode::frozen}, .now = start_ms},
               .reap = false});
  std::vector<Instant> seen;
  const auto owner = [](int i) { return std::to_string(100'000'000'000 + i); };
  for (int i = 0; i < 50; ++i) {
    std::thread maker([&] { carts_of(world, owner(i)); });
    REQUIRE(world.database().time_travel().advance_by(owner(i), std::chrono::milliseconds(hour_ms)));
    maker.join();
    seen.push_back(world.database().accounts().of(owner(i)).now());
  }
  world.reopen();
  for (int i = 0; i < 50; ++i)
    CHECK(world.database().accounts().of(owner(i)).now() == seen[static_cast<std::size_t>(i)]);
}

TEST_CASE("a clock whose new start cannot be stored is not set back", "[time_travel]") {
  const TemporaryDirectory directory;
  const auto fails = std::make_shared<bool>(false);
  World world({.directory = directory.path(), .reap = false, .write_fails = [=] { return *fails; }});
  REQUIRE(world.database().time_travel().set(account, {Mode::frozen}, start_ms + hour_ms));
  *fails = true;
  CHECK_THROWS_AS(world.database().time_travel().set(account, {Mode::frozen}, start_ms), StorageFault);
  *fails = false;
  CHECK(world.now() == start_ms + hour_ms);
  world.reopen();
  CHECK(world.now() == start_ms + hour_ms);
}

TEST_CASE("setting a clock back while a table is created takes effect before the creation or is rejected",
          "[time_travel][holds]") {
  World world({.reap = false});
  for (int i = 0; i < 200; ++i) {
    const std::string owner = std::to_string(100'000'000'000 + i);
    REQUIRE(world.database().time_travel().set(owner, {Mode::frozen}, start_ms + hour_ms));
    std::shared_ptr<LiveTable> carts;
    std::thread maker([&] { carts = carts_of(world, owner); });
    const bool began_anew = world.database().time_travel().set(owner, {Mode::frozen}, start_ms).has_value();
    maker.join();
    CHECK(world.database().accounts().of(owner).now() == start_ms + (began_anew ? 0 : hour_ms));
    CHECK(carts->description()->created <= world.database().accounts().of(owner).now());
  }
}

TEST_CASE("clock jumps do not age stream records even after a restart", "[time_travel][holds]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = carts_of(world, account);
  world.put(carts, expiring_after("a", 60));
  world.advance(start_ms + 1000 * hour_ms);
  carts.reset();
  world.reopen();
  CHECK(world.database().accounts().of(account).stream_now() == start_ms);
  Account& owner = world.database().accounts().of(account);
  CHECK(owner.stream_time_of(start_ms + 60'001) == start_ms);
  CHECK(world.records(world.find("carts")->description()->stream->id).size() == 2);
}

TEST_CASE("the clocks of several accounts can advance at the same time", "[time_travel]") {
  World world({.reap = true});
  std::vector<std::shared_ptr<LiveTable>> tables;
  for (int i = 0; i < 8; ++i) {
    tables.push_back(carts_of(world, "00000000010" + std::to_string(i)));
    for (int item = 0; item < 50; ++item)
      world.put(tables.back(), expiring_after(std::to_string(item), 60 + item));
  }
  std::vector<std::thread> travellers;
  std::array<std::int64_t, 8> expired{};
  for (std::size_t i = 0; i < 8; ++i)
    travellers.emplace_back([&, i] {
      const std::string& owner = tables[i]->account().id();
      for (int step = 1; step <= 10; ++step)
        expired[i] += world.database()
                          .time_travel()
                          .advance(owner, start_ms + step * (60'000 + 1000 * static_cast<Instant>(i)))
                          .expired;
    });
  for (std::thread& traveller : travellers) traveller.join();
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(expired[i] == 50);
    CHECK(world.database().accounts().of(tables[i]->account().id()).now() ==
          start_ms + 10 * (60'000 + 1000 * static_cast<Instant>(i)));
    CHECK(world.all(tables[i]).empty());
  }
}

TEST_CASE("concurrent advances add up", "[time_travel][holds]") {
  World world({.reap = true});
  auto carts = carts_of(world, account);
  REQUIRE(world.database().time_travel().set(account, {Mode::frozen}, std::nullopt));
  for (int i = 0; i < 100; ++i) world.put(carts, expiring_after(std::to_string(i), 60 * i));
  std::vector<std::thread> travellers;
  std::atomic<int> refused{0};
  for (int i = 0; i < 4; ++i)
    travellers.emplace_back([&] {
      for (int step = 0; step < 5; ++step)
        refused += !world.database().time_travel().advance_by(account, std::chrono::hours(1));
    });
  for (std::thread& traveller : travellers) traveller.join();
  CHECK(refused == 0);
  CHECK(world.now() == start_ms + 20 * hour_ms);
  CHECK(world.all(carts).empty());
}

TEST_CASE("an advance ends even if clients keep writing items that become due during the advance",
          "[time_travel][holds]") {
  World world;
  auto carts = carts_of(world, account);
  REQUIRE(world.database().time_travel().set(account, {Mode::frozen}, std::nullopt));
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i, ++written) {
      const Instant due = world.now() + 2;
      world.put(
          carts,
          {{"id", std::to_string(i % 1000)},
           {"ttl", number(std::to_string(due / 1000) + "." + std::to_string(1000 + due % 1000).substr(1))}});
    }
  });
  while (written < 100) std::this_thread::yield();
  const Advanced advanced = world.database().time_travel().advance(account, start_ms + 48 * hour_ms);
  CHECK(advanced.now == start_ms + 48 * hour_ms);
  CHECK(advanced.expired < 3 * TimeTravel::stops_spare);
  stop = true;
  writer.join();
  world.advance(start_ms + 49 * hour_ms);
  CHECK(world.all(carts).empty());
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an advance that is stopped ends early and the next advance continues from there",
          "[time_travel]") {
  World world;
  auto carts = carts_of(world, account);
  REQUIRE(world.database().time_travel().set(account, {Mode::frozen}, std::nullopt));
  for (int i = 0; i < 100; ++i) world.put(carts, expiring_after(std::to_string(i), 60 + i));
  std::stop_source stop;
  int removed = 0;
  const auto subscription = world.database().change_feed().subscribe([&](const Change& change) {
    if (change.kind == ChangeRecord::Kind::remove && ++removed == 10) stop.request_stop();
  });
  const Advanced stopped =
      world.database().time_travel().advance(account, start_ms + hour_ms, false, stop.get_token());
  CHECK(stopped.now == start_ms + 69'001);
  CHECK(stopped.expired == 10);
  CHECK(stopped.next_expiry == start_ms + 70'001);
  CHECK(world.now() == start_ms + 69'001);
  CHECK(world.advance(start_ms + hour_ms) == 90);
}

TEST_CASE("an advance does not wait at a failpoint whose table is dropped or replaced by a restore",
          "[time_travel][failpoints]") {
  World world;
  for (const bool drops : {true, false}) {
    auto carts = carts_of(world, account);
    const SnapshotId id = world.database().snapshots().take(account);
    const Instant from = world.now();
    world.put(carts, {{"id", "a"}, {"ttl", number(from / 1000 + 60)}});
    Failpoints& failpoints = world.database().failpoints();
    failpoints.arm(carts, key_of(*carts->description(), {{"id", "a"}}), {{"id", "a"}});
    std::thread traveller([&] { world.advance(from + hour_ms); });
    while (failpoints.of(account).empty() || !failpoints.of(account)[0].waiting) std::this_thread::yield();
    if (drops) {
      CHECK(world.database().tables().drop(carts));
    } else {
      CHECK(failpoints.release(*carts, key_of(*carts->description(), {{"id", "a"}})));
    }
    traveller.join();
    REQUIRE(world.database().snapshots().restore(account, id));
    CHECK(failpoints.of(account).empty());
    world.database().snapshots().reset(account);
  }
}

TEST_CASE("items written during an advance expire in that advance even if the index was already read",
          "[time_travel][failpoints]") {
  World world;
  auto carts = carts_of(world, account);
  for (const int seconds : {1, 4, 5}) world.put(carts, expiring_after(std::to_string(seconds), seconds));
  world.put(carts, expiring_after("held", 2));
  Failpoints& failpoints = world.database().failpoints();
  const std::string key = key_of(*carts->description(), {{"id", "held"}});
  failpoints.arm(carts, key, {{"id", "held"}});
  std::thread traveller([&] { world.advance(start_ms + hour_ms); });
  while (!failpoints.of(account)[0].waiting) std::this_thread::yield();
  world.put(carts, expiring_after("3", 3));  // due before the next item
  world.put(carts, expiring_after("4", 6));  // renewed, with a later due time
  world.put(carts, expiring_after("held", 7));
  failpoints.release(*carts, key);
  traveller.join();
  std::vector<std::string> gone;
  for (const ChangeRecord& record : world.records(carts->description()->stream->id))
    if (record.kind == ChangeRecord::Kind::remove)
      gone.push_back(*record.keys.find("id")->get_if<std::string>() + "@" +
                     std::to_string(record.created - start_ms));
  CHECK(gone == std::vector<std::string>{"1@1001", "3@3001", "5@5001", "4@6001", "held@7001"});
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a TTL in milliseconds is never the next expiry and no clock passes the year 9999",
          "[time_travel]") {
  World world;
  auto carts = carts_of(world, account);
  world.put(carts, {{"id", "ms"}, {"ttl", number(start_ms)}});
  world.put(carts, {{"id", "last"}, {"ttl", number(last_instant / 1000)}});
  world.put(carts, {{"id", "beyond"}, {"ttl", number(last_instant / 1000 + 1)}});
  CHECK(world.database().expiries().totals(*carts).pending == 1);
  REQUIRE(world.database().time_travel().set(account, {Mode::frozen}, std::nullopt));
  const Advanced advanced = world.database().time_travel().advance_to_next_expiry(account);
  CHECK(iso8601(advanced.now) == "9999-12-31T23:59:59.001Z");
  CHECK(advanced.expired == 1);
  CHECK_FALSE(advanced.next_expiry);
  const auto refused = world.database().time_travel().advance_by(account, std::chrono::hours(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == ClockRefusal::beyond_the_last_instant);
  CHECK(world.get(carts, {{"id", "ms"}}));
  CHECK(world.get(carts, {{"id", "beyond"}}));

  REQUIRE(world.database().time_travel().set(account, {Mode::rate, 1e6}, std::nullopt));
  world.clock().set(start_ms + 3600'000);
  CHECK(world.now() == last_instant);
}

}  // namespace mayfly::testing
