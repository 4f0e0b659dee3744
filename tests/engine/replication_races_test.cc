// Changes global tables at each point of a replication. The last write to an item must always prevail.
#include <catch2/catch.hpp>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/background/replication.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "tests/support/beside.h"
#include "tests/support/engine_world.h"
#include "tests/support/global_tables.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::function<bool()> restores(World& world, SnapshotId snapshot) {
  return [&world, snapshot] { return world.database().snapshots().restore(account, snapshot); };
}

}  // namespace

// The first replication bug that the simulation found: a write in flight replaced a later write.
TEST_CASE("the last write prevails no matter when a replica is removed while its writes arrive",
          "[replication]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    set_route(world, "eu-west-1", "us-east-1", {.paused = true});
    world.put(in(world, "eu-west-1"), cart("a", "first"));
    world.put(carts, cart("a", "second"));
    set_route(world, "eu-west-1", "us-east-1", {});
    bool begun = false;
    {
      Beside removal(place, [&] {
        static_cast<void>(
            world.database().tables().update_together(in(world, "us-east-1"), [](std::vector<Table>& tables) {
              return std::erase_if(tables, [](const Table& table) { return table.region == "eu-west-1"; }) ==
                     1;
            }));
      });
      settle(world);
      begun = removal.begun;
    }
    INFO("the replica is removed at place " << place);
    CHECK(world.get(carts, {{"id", "a"}}) == cart("a", "second"));
    CHECK(world.inconsistency(carts).empty());
    return begun;
  });
  CHECK(places > 5);
}

// After a restore, replication used to continue from the position that it had before the restore. It forgot
// the deletion, so the older write prevailed when it arrived.
TEST_CASE("a deletion prevails over an earlier write no matter when a restore happens while writes arrive",
          "[replication]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    world.put(carts, cart("a", "before"));
    settle(world);
    set_route(world, "us-east-1", "eu-west-1", {.paused = true});
    world.put(carts, cart("a", "written"));
    world.remove(in(world, "eu-west-1"), {{"id", "a"}});
    const SnapshotId snapshot = world.database().snapshots().take(account);
    set_route(world, "us-east-1", "eu-west-1", {});
    settle(world);
    bool begun = false;
    {
      Beside restore(place, restores(world, snapshot));
      settle(world);
      begun = restore.begun;
    }
    set_route(world, "us-east-1", "eu-west-1", {});
    settle(world);
    INFO("the restore happens at place " << place);
    CHECK(world.all(in(world, "us-east-1")).empty());
    CHECK(world.all(in(world, "eu-west-1")).empty());
    CHECK(world.inconsistency(in(world, "us-east-1")).empty());
    return begun;
  });
  CHECK(places > 5);
}

// The restored tables used to become visible before the restored settings of the routes did.
TEST_CASE("a paused route holds its writes no matter when replication runs during a restore",
          "[replication]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    set_route(world, "us-east-1", "eu-west-1", {.paused = true});
    world.put(carts, cart("a", "held"));
    const SnapshotId snapshot = world.database().snapshots().take(account);
    set_route(world, "us-east-1", "eu-west-1", {});
    settle(world);
    bool begun = false;
    {
      Beside arrivals(place, [&] { settle(world); });
      REQUIRE(world.database().snapshots().restore(account, snapshot));
      begun = arrivals.begun;
    }
    INFO("replication runs at place " << place);
    CHECK(world.all(in(world, "eu-west-1")).empty());
    return begun;
  });
  CHECK(places > 5);
}

TEST_CASE("a restore during another account's replication delivers no write that a paused route holds",
          "[replication][holds]") {
  World world({.reap = true});
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.put(carts, cart("a", "held"));
  const SnapshotId snapshot = world.database().snapshots().take(account);
  Table others = simple_table("carts");
  others.account = "111111111111";
  auto theirs = world.create(others);
  replicate(world, theirs, {"eu-west-1"});
  {
    const std::jthread writer([&](const std::stop_token& stop) {
      for (int i = 0; !stop.stop_requested(); ++i) world.put(theirs, cart("a", std::to_string(i)));
    });
    for (int i = 0; i < 120; ++i) {
      set_route(world, "us-east-1", "eu-west-1", {});
      settle(world);
      REQUIRE(world.all(in(world, "eu-west-1")).size() == 1);
      REQUIRE(world.database().snapshots().restore(account, snapshot));
      REQUIRE(world.all(in(world, "eu-west-1")).empty());
    }
  }
  REQUIRE(world.all(in(world, "eu-west-1")).empty());
}

// Replication used to treat items as copied although the restored replica did not have them yet.
TEST_CASE("items are copied again no matter when a restore happens after a replica received them",
          "[replication]") {
  const int places = at_each_place([](int place) {
    World world({.reap = false, .backfill_at_once_max = 0});
    auto carts = world.create(simple_table("carts"));
    world.put(carts, cart("a", "1"));
    world.put(carts, cart("b", "2"));
    replicate(world, carts, {"eu-west-1"});
    const SnapshotId snapshot = world.database().snapshots().take(account);
    settle(world);
    REQUIRE(world.all(in(world, "eu-west-1")).size() == 2);
    bool begun = false;
    {
      Beside restore(place, restores(world, snapshot));
      settle(world);
      begun = restore.begun;
    }
    settle(world);
    INFO("the restore happens at place " << place);
    CHECK(world.all(in(world, "eu-west-1")).size() == 2);
    CHECK(in(world, "eu-west-1")->description()->copies_from.empty());
    CHECK(world.inconsistency(in(world, "us-east-1")).empty());
    return begun;
  });
  CHECK(places > 3);
}

// The route used to be paused in memory, but open after the next start.
TEST_CASE("a route's setting in memory matches storage no matter when a restore happens during a change",
          "[replication]") {
  const bool paused = GENERATE(false, true);
  const int places = at_each_place([&](int place) {
    World world;
    set_route(world, "us-east-1", "eu-west-1", {.paused = !paused});
    const SnapshotId snapshot = world.database().snapshots().take(account);
    bool begun = false;
    {
      Beside restore(place, restores(world, snapshot));
      set_route(world, "us-east-1", "eu-west-1", {.paused = paused});
      begun = restore.begun;
    }
    INFO("the restore happens at place " << place);
    Database& database = world.database();
    const Replication loaded({.accounts = database.accounts(),
                              .catalog = database.catalog_itself(),
                              .storage = database.storage(),
                              .watermark = database.watermark(),
                              .documents = database.documents(),
                              .recent_writes = database.recent_writes(),
                              .stream_trimmer = database.stream_trimmer(),
                              .path = database.write_path()},
                             nullptr);
    CHECK(database.replication().routes(account) == loaded.routes(account));
    return begun;
  });
  CHECK(places > 1);
}

}  // namespace mayfly::testing
