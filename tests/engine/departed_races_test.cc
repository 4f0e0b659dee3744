// Reads beside changes of what makes items go: each shows the table as it was before the change or after it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/cursor.h"
#include "engine/database.h"
#include "tests/support/beside.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

const AttributeValue past = number(start_seconds - 10);

void switch_ttl_off(World& world) {
  world.database().update_table(world.find("carts"), [](Table& table) { table.ttl.reset(); });
}

}  // namespace

// A scan passed over what was due by the TTL that was off when it was written, and showed what was written
// after it.
TEST_CASE("wherever TTL is switched off beside a Scan, it shows no later write without the earlier one",
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

// What had been read was gone by a TTL that came after the next write.
TEST_CASE("wherever TTL is switched on beside reads of an item that stays, it is there", "[expiry]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    world.put(carts, {{"id", "a"}, {"ttl", past}});
    world.enable_ttl(carts, "another");
    const std::string key = key_of(*carts->description(), {{"id", "a"}});
    const Database::ItemName name{carts.get(), key};
    bool alone = false, together = false, begun = false;
    {
      Beside change(place, [&] {
        world.put(carts, {{"id", "a"}, {"v", "2"}});
        world.enable_ttl(carts);
      });
      alone = world.database().get(*carts, key).has_value();
      together = world.database().get_together({&name, 1}).front().has_value();
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
