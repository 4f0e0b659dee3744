#include "engine/tables/change_feed.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/values/item_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

struct Heard {
  std::string table;
  ChangeRecord::Kind kind;
  Cause cause;
  std::optional<Item> old_item, new_item;
  std::optional<Sequence> sequence;
};

Heard note_of(const Change& change) {
  const auto item = [](std::string_view bytes) {
    return bytes.empty() ? std::nullopt : std::optional(decode_item(bytes));
  };
  return {change.table->name,    change.kind,           change.cause,
          item(change.old_item), item(change.new_item), change.sequence};
}

}  // namespace

TEST_CASE("a listener receives every change with both images whether or not the table has a stream") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  Table description = simple_table("orders");
  description.stream = stream_of(StreamView::keys_only);
  auto orders = world.create(description);

  std::vector<Heard> heard;
  auto subscription = world.database().change_feed().subscribe([&](const Change& change) {
    CHECK(change.at == world.now());
    if (change.sequence) CHECK(world.database().watermark().published() == *change.sequence);
    heard.push_back(note_of(change));
  });
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 20)}});
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 20)}});  // changes nothing
  world.put(orders, {{"id", "o"}});
  world.remove(orders, {{"id", "o"}});
  world.remove(orders, {{"id", "o"}});  // also changes nothing
  world.advance(start_ms + 21'000);

  REQUIRE(heard.size() == 5);
  CHECK(heard[0].kind == ChangeRecord::Kind::insert);
  CHECK_FALSE(heard[0].old_item);
  CHECK(heard[0].new_item == Item{{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  CHECK_FALSE(heard[0].sequence);
  CHECK(heard[1].kind == ChangeRecord::Kind::modify);
  CHECK(heard[1].old_item == heard[0].new_item);
  CHECK(heard[2].table == "orders");
  const auto records = world.records(orders->description()->stream->id);
  REQUIRE(records.size() == 2);
  CHECK(heard[2].sequence == records[0].sequence);
  CHECK(heard[3].sequence == records[1].sequence);
  CHECK(heard[3].old_item == Item{{"id", "o"}});
  CHECK(heard[4].kind == ChangeRecord::Kind::remove);
  CHECK(heard[4].cause == Cause::time_to_live);
  CHECK(heard[4].old_item == Item{{"id", "a"}, {"ttl", number(start_seconds + 20)}});
  CHECK_FALSE(heard[4].new_item);

  subscription.end();
  world.put(orders, {{"id", "p"}});
  CHECK(heard.size() == 5);
}

TEST_CASE("a change that a listener keeps stays valid after the commit") {
  World world;
  auto carts = world.create(simple_table("carts"));
  std::vector<KeptChange> kept;
  bool told_in_commit = true;
  auto subscription = world.database().change_feed().subscribe([&](const Change& change) {
    told_in_commit = told_in_commit && ChangeFeed::telling();
    kept.emplace_back(change);
  });
  world.put(carts, {{"id", "a"}});
  world.put(carts, {{"id", "a"}, {"n", "1"}});
  world.database().tables().update(carts, [](Table& table) { table.expiry.seed = 7; });
  world.database().tables().drop(carts);

  CHECK(told_in_commit);
  CHECK_FALSE(ChangeFeed::telling());
  REQUIRE(kept.size() == 2);
  const Heard heard = note_of(kept[1].change());
  CHECK(heard.table == "carts");
  CHECK(heard.kind == ChangeRecord::Kind::modify);
  CHECK(heard.old_item == Item{{"id", "a"}});
  CHECK(heard.new_item == Item{{"id", "a"}, {"n", "1"}});
  CHECK(kept[1].table->expiry.seed == ExpiryMode().seed);
  CHECK(kept[1].bytes() > kept[1].old_item.size() + kept[1].new_item.size());
}

TEST_CASE("listeners that keep a change share one copy of it") {
  World world;
  auto carts = world.create(simple_table("carts"));
  std::vector<std::shared_ptr<const KeptChange>> one, other;
  const auto keep_in = [](auto& kept) {
    return [&kept](const Change& change) { kept.push_back(change.kept()); };
  };
  auto first = world.database().change_feed().subscribe(keep_in(one));
  auto second = world.database().change_feed().subscribe(keep_in(other));
  world.put(carts, {{"id", "a"}});
  world.put(carts, {{"id", "b"}});
  REQUIRE(one.size() == 2);
  CHECK(one == other);
  CHECK(one[0] != one[1]);
  CHECK(note_of(one[1]->change()).new_item == Item{{"id", "b"}});
}

TEST_CASE("a change names its record's shard and told() returns the last delivered sequence number") {
  World world;
  Table description = simple_table("orders");
  description.stream = stream_of(StreamView::keys_only);
  auto orders = world.create(description);
  std::vector<KeptChange> kept;
  auto subscription =
      world.database().change_feed().subscribe([&](const Change& change) { kept.emplace_back(change); });
  world.put(orders, {{"id", "a"}});
  REQUIRE(world.database().tables().reshard(orders, std::nullopt, Resharding::roll));
  world.put(orders, {{"id", "a"}, {"n", "1"}});
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].change().shard == 0);
  CHECK(kept[1].change().shard == 1);
  CHECK(world.database().change_feed().told() == kept[1].sequence);
}

TEST_CASE("listeners that subscribe and unsubscribe during writes receive records without gaps") {
  World world;
  Table description = simple_table("orders");
  description.stream = stream_of(StreamView::keys_only);
  auto orders = world.create(description);
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !done; ++i)
        world.put(orders, {{"id", std::to_string(writer) + "-" + std::to_string(i)}});
    });
  }
  for (int round = 0; round < 200; ++round) {
    std::atomic<Sequence> last{0};
    std::atomic<bool> gap{false};
    auto subscription = world.database().change_feed().subscribe([&](const Change& change) {
      if (last != 0 && *change.sequence != last + 1) gap = true;
      last = *change.sequence;
    });
    const Sequence published =
        world.database().watermark().published();  // the listener receives all later records
    while (last == 0) std::this_thread::yield();
    subscription.end();
    CHECK(last > 0);
    CHECK(last >= published);
    CHECK_FALSE(gap);
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
}

}  // namespace mayfly::testing
