#include "engine/items/cursor.h"

#include <catch2/catch.hpp>

#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::string partition(const AttributeValue& value) {
  std::string out;
  const AttributeValue* const values[] = {&value};
  append_partition(out, values);
  return out;
}

std::vector<std::string> walk(Cursor cursor, const char* attribute) {
  std::vector<std::string> found;
  while (cursor.next()) {
    const AttributeValue* value = cursor.item().item().find(attribute);
    found.push_back(value->get_if<Number>() ? value->get_if<Number>()->to_string()
                                            : *value->get_if<std::string>());
  }
  return found;
}

}  // namespace

TEST_CASE("a cursor reads a partition by sort key in both directions and between bounds", "[cursor]") {
  World world;
  auto events = world.create(sorted_table("events"));
  for (const char* at : {"10", "-3", "2", "1e2", "0.5"}) world.put(events, {{"id", "a"}, {"at", number(at)}});
  world.put(events, {{"id", "b"}, {"at", number("1")}});
  const std::string lower = partition("a"), upper = prefix_end(lower);
  const auto read = [&](KeyRange range) {
    return walk(Cursor(world.database().reader(), *events, range), "at");
  };

  CHECK(read({0, lower, upper}) == std::vector<std::string>{"-3", "0.5", "2", "10", "100"});
  CHECK(read({0, lower, upper, false}) == std::vector<std::string>{"100", "10", "2", "0.5", "-3"});
  std::string from = lower;
  append_scalar(from, number("2"));
  CHECK(read({0, from, upper}) == std::vector<std::string>{"2", "10", "100"});
  CHECK(read({0, from + '\0', upper}) == std::vector<std::string>{"10", "100"});
  CHECK(read({0, lower, from, false}) == std::vector<std::string>{"0.5", "-3"});
  CHECK(read({}).size() == 6);
}

TEST_CASE("a cursor's key in an index is the entry's key followed by the item's key", "[cursor]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  auto carts = world.create(description);
  const Item item{{"id", "a"}, {"user", "nina"}};
  world.put(carts, item);
  const std::string own = key_of(description, item);
  Cursor table(world.database().reader(), *carts, {});
  REQUIRE(table.next());
  CHECK(table.key() == own);
  CHECK_FALSE(table.next());
  Cursor index(world.database().reader(), *carts, {.index = 1});
  REQUIRE(index.next());
  CHECK(index.key() == partition("nina") + own);
  CHECK(index.item().item() == item);
}

TEST_CASE("a cursor sees an index and its items as of one instant", "[cursor]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  auto carts = world.create(description);
  world.put(carts, {{"id", "a"}, {"user", "u"}, {"n", number(1)}});
  world.put(carts, {{"id", "b"}, {"user", "u"}, {"n", number(1)}});
  Cursor index(world.database().reader(), *carts, {.index = 1});
  Cursor table(world.database().reader(), *carts, {});
  world.put(carts, {{"id", "a"}, {"user", "v"}, {"n", number(2)}});
  world.remove(carts, {{"id", "b"}});
  world.put(carts, {{"id", "c"}, {"user", "u"}, {"n", number(2)}});
  CHECK(walk(std::move(index), "n") == std::vector<std::string>{"1", "1"});
  CHECK(walk(std::move(table), "n") == std::vector<std::string>{"1", "1"});
}

TEST_CASE("a cursor on an index sees no entries of other indexes or tables", "[cursor]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user"), global_index("by_day", "day")};
  auto carts = world.create(description);
  auto other = world.create(simple_table("other"));
  world.put(carts, {{"id", "a"}, {"user", "u"}});
  world.put(carts, {{"id", "b"}, {"day", "mon"}});
  world.put(other, {{"id", "c"}});
  CHECK(world.all(carts, 1) == std::vector<Item>{{{"id", "a"}, {"user", "u"}}});
  CHECK(world.all(carts, 2) == std::vector<Item>{{{"id", "b"}, {"day", "mon"}}});
  CHECK(world.all(carts).size() == 2);
}

}  // namespace mayfly::testing
