#include "engine/schema/index_entries.h"

#include <catch2/catch.hpp>

#include "engine/values/item_size.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Table two_indexes() {
  Table table = simple_table("carts");
  table.indexes = {global_index("by_user", "user", Projection::Kind::include), global_index("all", "user")};
  table.indexes[0].id = 1;
  table.indexes[0].projection.attributes = {"total"};
  table.indexes[1].id = 2;
  return table;
}

std::vector<IndexChange> changes(const Table& table, const Item* before, const Item* after) {
  return index_changes(table, before, after);
}

}  // namespace

TEST_CASE("an item whose index key is missing or has the wrong type has no index entry", "[index_entries]") {
  const Table table = two_indexes();
  const Item none{{"id", "a"}};
  const Item wrong{{"id", "a"}, {"user", number(1)}};
  CHECK(changes(table, nullptr, &none).empty());
  CHECK(changes(table, &none, &wrong).empty());
  CHECK(index_entry_key(table, table.indexes[0], wrong).empty());
}

TEST_CASE("an index entry's key is the indexed attributes followed by the item's key", "[index_entries]") {
  Table table = two_indexes();
  Index& index = table.indexes[0];
  index.keys = {{{"user", ScalarType::string}, {"shop", ScalarType::string}},
                {{"day", ScalarType::string}, {"n", ScalarType::number}}};
  const auto entry = [&](const char* id, const char* day, int n) {
    const Item item{{"id", id}, {"user", "u"}, {"shop", "s"}, {"day", day}, {"n", number(n)}};
    return index_entry_key(table, index, item);
  };
  CHECK(entry("a", "mon", 2) < entry("a", "mon", 10));
  CHECK(entry("z", "mon", 10) < entry("a", "tue", 1));
  CHECK(entry("a", "mon", 1) != entry("b", "mon", 1));
  const Item item{{"id", "a"}, {"user", "u"}, {"shop", "s"}, {"day", "mon"}};
  CHECK(index_entry_key(table, index, item).empty());
}

TEST_CASE("a write changes only indexes whose projected content changes", "[index_entries]") {
  const Table table = two_indexes();
  const Item before{{"id", "a"}, {"user", "u"}, {"total", number(1)}, {"note", "x"}};
  Item after = before;
  after.set("note", "y");
  auto changed = changes(table, &before, &after);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].index->name == "all");
  CHECK_FALSE(changed[0].key_changed());

  after = before;
  after.set("total", number(2));
  changed = changes(table, &before, &after);
  REQUIRE(changed.size() == 2);
  CHECK_FALSE(changed[0].key_changed());
  CHECK(changed[0].new_bytes == item_size(Item{{"id", "a"}, {"user", "u"}, {"total", number(2)}}));

  after.set("user", "v");
  changed = changes(table, &before, &after);
  REQUIRE(changed.size() == 2);
  CHECK(changed[0].key_changed());

  after.erase("user");
  changed = changes(table, &before, &after);
  REQUIRE(changed.size() == 2);
  CHECK(changed[0].new_key.empty());
  CHECK(changed[0].new_bytes == 0);
}

}  // namespace mayfly::testing
