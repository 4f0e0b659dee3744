#include "engine/schema/expiry_mode.h"

#include <catch2/catch.hpp>
#include <set>

#include "engine/background/reaper.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Table table_in(ExpiryMode mode) {
  Table table = simple_table("carts");
  table.expiry = mode;
  return table;
}

ExpiryMode aws(std::uint64_t seed) { return {ExpiryMode::Kind::aws, 600'000, 1'680'000, seed}; }

void set_mode(World& world, const std::shared_ptr<LiveTable>& table, ExpiryMode mode) {
  world.database().tables().update(table, [&](Table& edited) { edited.expiry = mode; });
}

Item expiring_within(const std::string& id, std::int64_t in_seconds) {
  return {{"id", id}, {"ttl", number(start_seconds + in_seconds)}};
}

}  // namespace

TEST_CASE("in exact mode an item's deletion fires when the item is due and in manual mode it never fires",
          "[expiry_mode]") {
  CHECK(fires_at(table_in({ExpiryMode::Kind::exact}), start_ms) == start_ms);
  CHECK(fires_at(table_in({ExpiryMode::Kind::manual}), start_ms) == never);
}

TEST_CASE("delays in aws mode are within their bounds and keep the order of due times", "[expiry_mode]") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Table table = table_in(aws(seed));
    std::set<Instant> passes;
    Instant before = 0;
    for (Instant due = start_ms; due < start_ms + 24 * 3600'000; due += 7'001) {
      const Instant fires = fires_at(table, due);
      CHECK(fires - due >= 600'000);
      CHECK(fires - due <= 1'680'000);
      CHECK(fires >= before);
      before = fires;
      passes.insert(fires);
    }
    CHECK(passes.size() > 24 * 6);  // about one pass every nine minutes
    CHECK(passes.size() < 24 * 8);
  }
}

TEST_CASE("delays in aws mode depend only on the due time and the seed and the table's name",
          "[expiry_mode]") {
  const Table table = table_in(aws(7));
  CHECK(fires_at(table, start_ms) == fires_at(table_in(aws(7)), start_ms));
  CHECK(fires_at(table, start_ms) != fires_at(table_in(aws(8)), start_ms));
  Table other = table;
  other.name = "orders";
  CHECK(fires_at(table, start_ms) != fires_at(other, start_ms));
  Table fixed = table;
  fixed.expiry.delay_ms_max = fixed.expiry.delay_ms_min;
  CHECK(fires_at(fixed, start_ms) == start_ms + 600'000);
}

TEST_CASE("in aws mode an item stays until its delay has passed and can be renewed until then",
          "[expiry_mode]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  set_mode(world, carts, aws(1));
  world.put(carts, expiring_within("a", 60));
  world.put(carts, expiring_within("renewed", 60));
  const Instant fires = fires_at(*carts->description(), start_ms + 60'001);
  CHECK(world.database().time_travel().next_expiry(account) == fires);
  CHECK(world.advance(fires - 1) == 0);
  CHECK(world.all(carts).size() == 2);
  world.put(carts, expiring_within("renewed", 100'000));
  CHECK(world.advance(fires) == 1);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(world.get(carts, {{"id", "renewed"}}));
  CHECK(world.inconsistency(carts).empty());
  CHECK(carts->expiry_stats().lag_ms_max() == fires - (start_ms + 60'001));
}

TEST_CASE("in manual mode only a requested sweep deletes due items", "[expiry_mode]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  set_mode(world, carts, {ExpiryMode::Kind::manual});
  world.put(carts, expiring_within("a", 60));
  world.put(carts, expiring_within("b", 120));
  CHECK_FALSE(world.database().time_travel().next_expiry(account));
  CHECK(world.advance(start_ms + 100'000) == 0);
  CHECK(world.all(carts).size() == 2);
  CHECK(world.database().reaper().sweep(carts) == 1);
  CHECK(world.database().reaper().sweep(carts) == 0);
  CHECK(world.get(carts, {{"id", "b"}}));
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a change of expiry mode applies to items that were written before the change", "[expiry_mode]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  set_mode(world, carts, {ExpiryMode::Kind::manual});
  for (int i = 0; i < 100; ++i) world.put(carts, expiring_within(std::to_string(i), i));
  world.advance(start_ms + 50'000);
  set_mode(world, carts, {ExpiryMode::Kind::exact});  // the change deletes due items
  CHECK(carts->expiry_stats().deleted() == 50);
  CHECK(world.database().reaper().reap_due() == 0);
  set_mode(world, carts, {ExpiryMode::Kind::manual});
  CHECK(world.advance(start_ms + 200'000) == 0);
  CHECK(world.all(carts).size() == 50);
}

}  // namespace mayfly::testing
