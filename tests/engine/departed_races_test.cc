// A read during which TTL is switched on or off shows the table as it was either before or after the change.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/database.h"
#include "engine/items/cursor.h"
#include "engine/items/item_reader.h"
#include "tests/support/beside.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

const AttributeValue past = number(start_seconds - 10);

void switch_ttl_off(World& world) {
  world.database().tables().update(world.find("carts"), [](Table& table) { table.ttl.reset(); });
}

}  // namespace

// The Scan used to apply the old TTL to an item that was written after TTL was switched off. It skipped that
// item and returned the item that was written next.
TEST_CASE("a Scan during which TTL is switched off never shows a write without all earlier writes",
          "[expiry]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    world.enable_ttl(carts);
    std::vector<Item> seen;
    bool begun = false;
    {
      Beside change(place, [&] {
        switch_ttl_off(world);
        world.put(carts, {{"id", "a"}, {"ttl", past}});
        world.put(carts, {{"id", "b"}});
      });
      seen = world.all(carts);
      begun = change.begun;
    }
    INFO("TTL is switched off at place " << place);
    const bool first = std::find(seen.begin(), seen.end(), Item{{"id", "a"}, {"ttl", past}}) != seen.end();
    CHECK((seen.size() == 2) == (std::find(seen.begin(), seen.end(), Item{{"id", "b"}}) != seen.end()));
    CHECK((seen.empty() || first));
    return begun;
  });
  CHECK(places > 1);
}

// A read used to apply the new TTL to a version of the item that had been overwritten before TTL was switched
// on.
TEST_CASE("switching TTL on during a read does not hide an item that does not expire", "[expiry]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    world.put(carts, {{"id", "a"}, {"ttl", past}});
    world.enable_ttl(carts, "another");
    const std::string key = key_of(*carts->description(), {{"id", "a"}});
    const ItemReader::ItemName name{carts.get(), key};
    bool alone = false, together = false, begun = false;
    {
      Beside change(place, [&] {
        world.put(carts, {{"id", "a"}, {"v", "2"}});
        world.enable_ttl(carts);
      });
      alone = world.database().reader().get(*carts, key).has_value();
      together = world.database().reader().get_together({&name, 1}).front().has_value();
      begun = change.begun;
    }
    INFO("TTL is switched on at place " << place);
    CHECK(alone);
    CHECK(together);
    return begun;
  });
  CHECK(places > 3);
}

}  // namespace mayfly::testing
