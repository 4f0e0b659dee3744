#include "engine/items/transaction.h"

#include <catch2/catch.hpp>

#include "engine/values/item_size.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

TEST_CASE("an item can be put and read and replaced and removed", "[transaction]") {
  World world;
  auto carts = world.create(simple_table("carts"));

  world.put(carts, {{"id", "a"}, {"total", number("12.50")}});
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}, {"total", number("12.5")}});
  CHECK_FALSE(world.get(carts, {{"id", "b"}}));

  world.put(carts, {{"id", "a"}});
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}});
  CHECK(carts->counter(0).items == 1);
  CHECK(carts->counter(0).bytes == static_cast<std::int64_t>(item_size(Item{{"id", "a"}})));

  world.remove(carts, {{"id", "a"}});
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(carts->counter(0).items == 0);
  CHECK(carts->counter(0).bytes == 0);
}

TEST_CASE("a transaction that is not committed changes nothing", "[transaction]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.put(carts, {{"id", "a"}});
  {
    Transaction transaction(world.database().write_path(), Cause::user);
    const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
    REQUIRE(transaction.lock());
    REQUIRE(transaction.old_item(slot));
    transaction.remove(slot);
  }
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}});
}

TEST_CASE("a transaction over two tables commits both items with consecutive records", "[transaction]") {
  World world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::new_and_old_images);
  auto carts = world.create(description);
  description = simple_table("orders");
  description.stream = stream_of(StreamView::keys_only);
  auto orders = world.create(description);

  Transaction transaction(world.database().write_path(), Cause::user);
  // The items are added in the reverse order of the tables' locks.
  const auto order = transaction.add(orders, key_of(*orders->description(), {{"id", "o"}}));
  const auto cart = transaction.add(carts, key_of(*carts->description(), {{"id", "c"}}));
  REQUIRE(transaction.lock());
  CHECK(transaction.table(order).name == "orders");
  CHECK(transaction.table(cart).name == "carts");
  transaction.put(order, {{"id", "o"}, {"n", number(1)}});
  transaction.put(cart, {{"id", "c"}});
  transaction.commit();

  const auto of_orders = world.records(orders->description()->stream->id);
  const auto of_carts = world.records(carts->description()->stream->id);
  REQUIRE(of_orders.size() == 1);
  REQUIRE(of_carts.size() == 1);
  CHECK(of_carts[0].sequence == of_orders[0].sequence + 1);
  CHECK(of_orders[0].keys == Item{{"id", "o"}});
  CHECK_FALSE(of_orders[0].new_image);
  CHECK(of_carts[0].new_image == Item{{"id", "c"}});
}

TEST_CASE("a write to a dropped table is rejected", "[transaction]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  REQUIRE(world.database().tables().drop(carts));
  Transaction transaction(world.database().write_path(), Cause::user);
  transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
  CHECK_FALSE(transaction.lock());
}

TEST_CASE("writing a set whose members are stored in another order changes nothing", "[transaction]") {
  const auto strings = [](std::vector<std::string> members) {
    StringSet set;
    REQUIRE(StringSet::make(std::move(members), set));
    return set;
  };
  World world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::keys_only);
  auto carts = world.create(description);
  const StreamId stream = carts->description()->stream->id;

  world.put(carts, {{"id", "a"}, {"more", List{Map{{"tags", StringSet::of_distinct({"b", "a"})}}}}});
  world.put(carts, {{"id", "a"}, {"more", List{Map{{"tags", strings({"a", "b"})}}}}});
  CHECK(world.records(stream).size() == 1);
  world.put(carts, {{"id", "a"}, {"more", List{Map{{"tags", strings({"a", "c"})}}}}});
  CHECK(world.records(stream).size() == 2);
}

TEST_CASE("a write that changes nothing writes no record", "[transaction]") {
  World world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::new_and_old_images);
  auto carts = world.create(description);
  const StreamId stream = carts->description()->stream->id;

  world.put(carts, {{"id", "a"}, {"n", number("1.0")}});
  world.put(carts, {{"id", "a"}, {"n", number("1")}});
  world.remove(carts, {{"id", "b"}});
  REQUIRE(world.records(stream).size() == 1);

  world.put(carts, {{"id", "a"}, {"n", number("2")}});
  world.remove(carts, {{"id", "a"}});
  const auto records = world.records(stream);
  REQUIRE(records.size() == 3);
  CHECK(records[0].kind == ChangeRecord::Kind::insert);
  CHECK_FALSE(records[0].old_image);
  CHECK(records[1].kind == ChangeRecord::Kind::modify);
  CHECK(records[1].old_image == Item{{"id", "a"}, {"n", number("1")}});
  CHECK(records[1].new_image == Item{{"id", "a"}, {"n", number("2")}});
  CHECK(records[2].kind == ChangeRecord::Kind::remove);
  CHECK(records[2].cause == Cause::user);
  CHECK_FALSE(records[2].new_image);
  CHECK(records[2].created == start_ms);
  // The record's keys take 3 bytes, and its old image takes 6: 3 for {"id":"a"} and 3 for {"n":2}.
  CHECK(records[2].size_bytes == 3 + 6);
}

TEST_CASE("a commit reports which index entries it changed", "[transaction]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {local_index("by_day", "day"),
                         global_index("by_user", "user", Projection::Kind::keys_only)};
  auto carts = world.create(description);
  const auto effects = [&](Item item) {
    Transaction transaction(world.database().write_path(), Cause::user);
    const auto slot = transaction.add(carts, key_of(*carts->description(), item));
    REQUIRE(transaction.lock());
    transaction.put(slot, std::move(item));
    transaction.commit();
    return transaction.index_effects(slot);
  };

  auto changed = effects({{"id", "a"}, {"user", "nina"}});
  REQUIRE(changed.size() == 1);  // the item has no "day", so it has no entry in by_day
  CHECK(changed[0].index == 2);
  CHECK(changed[0].old_entry_bytes == 0);
  CHECK(changed[0].new_entry_bytes == 3 + 8);

  CHECK(effects({{"id", "a"}, {"user", "nina"}, {"n", number(1)}}).empty());  // by_user does not project n

  changed = effects({{"id", "a"}, {"user", "otto"}, {"day", "mon"}});
  REQUIRE(changed.size() == 2);
  CHECK(changed[0].index == 1);
  CHECK(changed[1].key_changed);
  CHECK(changed[1].old_entry_bytes == 3 + 8);
  CHECK(world.all(carts, 1).size() == 1);
  CHECK(world.all(carts, 2) == std::vector<Item>{{{"id", "a"}, {"user", "otto"}, {"day", "mon"}}});
  CHECK(world.inconsistency(carts).empty());
}

}  // namespace mayfly::testing
