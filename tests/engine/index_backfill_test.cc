#include "engine/background/index_backfill.h"

#include <catch2/catch.hpp>
#include <thread>

#include "engine/database.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

void fill_table(World& world, const std::shared_ptr<LiveTable>& table, int count) {
  for (int i = 0; i < count; ++i) {
    Item item{{"id", std::to_string(i)}, {"n", number(i)}};
    if (i % 3 != 0) item.set("user", "u" + std::to_string(i % 10));
    if (i % 30 == 1) item.set("user", number(i));  // the wrong type, so the item has no entry
    if (i % 2 == 0) item.set("ttl", number(start_seconds + 100 + i));
    world.put(table, item);
  }
}

void add_index_and_ttl(Table& table) {
  table.indexes.push_back(global_index("by_user", "user", Projection::Kind::keys_only));
  table.ttl = TimeToLive{"ttl"};
}

void wait_until_filled(const std::shared_ptr<LiveTable>& table) {
  while (BackfillWalk::needed(*table->description())) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a new index and a newly enabled TTL cover existing items when the table update returns",
          "[backfill]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  fill_table(world, carts, 500);
  const auto after = world.database().tables().update(carts, add_index_and_ttl);
  CHECK(after->indexes[0].state == Index::State::active);
  CHECK_FALSE(after->ttl->backfilling);
  CHECK(world.inconsistency(carts).empty());
  CHECK(carts->counter(1).items == static_cast<std::int64_t>(world.all(carts, 1).size()));
  CHECK(carts->counter(1).items == 316);
  CHECK(world.advance(start_ms + 100'001) == 1);  // deletes item 0
}

TEST_CASE("a large table is backfilled in the background while clients write to it", "[backfill]") {
  World world({.reap = false, .backfill_at_once_max = 100});
  auto carts = world.create(simple_table("carts"));
  fill_table(world, carts, 3000);
  const auto after = world.database().tables().update(carts, add_index_and_ttl);
  CHECK(after->indexes[0].id == 1);
  for (int i = 0; i < 3000; i += 2) {
    // Changes, removes and adds items on both sides of the backfill's position.
    const std::string id = std::to_string(i);
    if (i % 4 == 0)
      world.remove(carts, {{"id", id}});
    else
      world.put(carts, {{"id", id}, {"user", "other"}, {"ttl", number(start_seconds + 7)}});
    world.put(carts, {{"id", "new" + id}, {"user", "new"}});
  }
  wait_until_filled(carts);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a backfill continues after a fault and after a restart", "[backfill]") {
  const TemporaryDirectory directory;
  bool fails = false;
  World world({.directory = directory.path(), .reap = false, .backfill_at_once_max = 64, .write_fails = [&] {
                 return fails;
               }});
  auto carts = world.create(simple_table("carts"));
  fill_table(world, carts, 500);
  // Simulates a crash during the backfill: the index exists, but has only some of its entries.
  world.database().catalog_itself().update(*carts, add_index_and_ttl);
  CHECK(world.inconsistency(carts) == "");  // during a backfill, entries may be missing
  CHECK(carts->counter(1).items == 0);
  BackfillWalk walk(world.database().catalog_itself(), world.database().write_path(), carts,
                    *carts->description());
  CHECK_FALSE(walk.step(100));
  CHECK(carts->description()->indexes[0].state == Index::State::creating);
  fails = true;
  CHECK_THROWS_AS(walk.step(100), StorageFault);
  fails = false;
  carts.reset();

  world.reopen();
  carts = world.find("carts");
  wait_until_filled(carts);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an index that is removed during its backfill leaves no entries", "[backfill]") {
  World world({.reap = false, .backfill_at_once_max = 64});
  auto carts = world.create(simple_table("carts"));
  fill_table(world, carts, 2000);
  world.database().tables().update(carts, add_index_and_ttl);
  world.database().tables().update(carts, [](Table& table) {
    table.indexes.clear();
    table.ttl.reset();
  });
  wait_until_filled(carts);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a table that is dropped during its backfill leaves no data", "[backfill]") {
  World world({.reap = false, .backfill_at_once_max = 64});
  auto carts = world.create(simple_table("carts"));
  fill_table(world, carts, 2000);
  world.database().tables().update(carts, add_index_and_ttl);
  CHECK(world.database().tables().drop(carts));
  CHECK(world.inconsistency(carts).empty());
}

}  // namespace mayfly::testing
