#include "engine/items/recent_writes.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/items/cursor.h"
#include "engine/items/item_reader.h"
#include "engine/items/transaction.h"
#include "engine/schema/index_entries.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

void follow(World& world, Lag most, const std::string& table = "") {
  world.database().recent_writes().follow(std::string(account), {{table, most}});
}

std::optional<Item> get(World& world, const std::shared_ptr<LiveTable>& table, const Item& key,
                        const Sight& sight) {
  auto stored = world.database().reader().get(*table, key_of(*table->description(), key), sight);
  if (!stored) return std::nullopt;
  return std::move(*stored).take();
}

// The number "n" of item "a" as the read sees it; -1 if the read does not see the item.
int n_of(World& world, const std::shared_ptr<LiveTable>& table, const Sight& sight) {
  const auto item = get(world, table, {{"id", "a"}}, sight);
  return item ? std::stoi(item->find("n")->get_if<Number>()->to_string()) : -1;
}

std::vector<Item> walk_table(World& world, const std::shared_ptr<LiveTable>& table, KeyRange range,
                             const Sight& sight) {
  std::vector<Item> items;
  Cursor cursor(world.database().reader(), *table, std::move(range), sight);
  while (cursor.next()) items.push_back(cursor.item().item());
  return items;
}

Sight behind(std::uint64_t writes, std::string_view copy = "") { return {copy, Lag{writes, {}}}; }
Sight behind_ms(std::int64_t milliseconds, std::string_view copy = "") {
  return {copy, Lag{{}, milliseconds}};
}

Table indexed_carts() {
  Table carts = simple_table("carts");
  carts.indexes = {global_index("by_user", "user")};
  return carts;
}

void put_number(World& world, const std::shared_ptr<LiveTable>& table, int n) {
  world.put(table, {{"id", "a"}, {"n", number(n)}});
}

// --- a model: the whole table after each commit

using State = std::map<std::string, Item>;  // by the item's encoded key

// The items that a walk over the range finds in the state.
std::vector<Item> walked(const Table& table, const State& state, const KeyRange& range) {
  std::map<std::string, Item> found;
  for (const auto& [key, item] : state) {
    std::string position = key;
    if (range.index != 0) position = index_entry_key(table, table.indexes[range.index - 1u], item);
    if (position.empty() || position < range.lower) continue;
    if (!range.upper.empty() && position >= range.upper) continue;
    found[position] = item;
  }
  std::vector<Item> items;
  for (const auto& [position, item] : found) items.push_back(item);
  if (!range.forward) std::reverse(items.begin(), items.end());
  return items;
}

struct Model {
  std::vector<State> states{1};                   // the index is the number of commits
  std::map<std::string, std::size_t> horizons{};  // by the name of the copy

  // The state that a read sees.
  const State& seen(const Sight& sight) {
    const std::size_t latest = states.size() - 1;
    const std::size_t lag = sight.lag ? std::min(static_cast<std::size_t>(*sight.lag->writes), latest) : 0;
    std::size_t& horizon = horizons[std::string(sight.copy)];
    horizon = std::max(horizon, latest - lag);
    return states[horizon];
  }
};

constexpr const char* cart_ids[] = {"a", "b", "c"};
constexpr const char* words[] = {"", "x", "y", "z"};  // "": the attribute is left out

Item random_item(std::mt19937& random) {
  Item item{{"id", cart_ids[random() % 3]}, {"at", number(static_cast<std::int64_t>(random() % 5))}};
  if (const char* user = words[random() % 4]; *user != 0) item.set("user", user);
  if (const char* day = words[random() % 4]; *day != 0) item.set("day", day);
  item.set("n", number(static_cast<std::int64_t>(random() % 1000)));
  return item;
}

// Puts or removes some items in one transaction.
void write_some(World& world, const std::shared_ptr<LiveTable>& table, Model& model, std::mt19937& random) {
  State next = model.states.back();
  Transaction transaction(world.database().write_path(), Cause::user);
  std::map<std::string, std::pair<Transaction::Slot, Item>> slots;
  for (std::size_t i = random() % 3 + 1; i > 0; --i) {
    const Item item = random_item(random);
    const std::string key = key_of(*table->description(), item);
    if (slots.count(key) == 0) slots.emplace(key, std::pair(transaction.add(table, key), item));
  }
  REQUIRE(transaction.lock());
  for (const auto& [key, slot] : slots) {
    if (random() % 3 == 0) {
      transaction.remove(slot.first);
      next.erase(key);
    } else {
      transaction.put(slot.first, slot.second);
      next[key] = slot.second;
    }
  }
  transaction.commit();
  if (next != model.states.back()) model.states.push_back(std::move(next));
}

KeyRange random_range(const Table& table, IndexId index, std::mt19937& random) {
  KeyRange range{.index = index, .lower = {}, .upper = {}, .forward = random() % 2 == 0};
  if (random() % 2 == 0) return range;
  const auto position = [&](const Item& item) {
    return index == 0 ? key_of(table, item) : index_entry_key(table, table.indexes[index - 1u], item);
  };
  range.lower = position(random_item(random));
  range.upper = position(random_item(random));
  if (!range.upper.empty() && range.upper < range.lower) std::swap(range.lower, range.upper);
  return range;
}

}  // namespace

TEST_CASE("a lagging read sees a table as of one commit and later reads see no older state",
          "[recent_writes]") {
  const auto seed = GENERATE(range(1u, 41u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  World world;
  Table description = sorted_table("carts");
  description.indexes = {local_index("by_day", "day"), global_index("by_user", "user"),
                         global_index("by_n", "day")};
  const auto table = world.create(description);
  const Table& made = *table->description();
  Model model;
  for (int i = 0; i < 10; ++i) write_some(world, table, model, random);
  model.states.erase(model.states.begin(), model.states.end() - 1);  // reads see all writes so far
  follow(world, {.writes = 8, .milliseconds = {}}, "carts");
  for (int step = 0; step < 300; ++step) {
    if (random() % 3 != 0) {
      write_some(world, table, model, random);
      continue;
    }
    const auto index = static_cast<IndexId>(random() % 4);
    Sight sight = behind(random() % 8 + 1);
    if (index > 1) sight.copy = made.indexes[index - 1u].name;
    if (random() % 8 == 0) sight.lag.reset();
    const KeyRange range = random_range(made, index, random);
    const State& state = model.seen(sight);
    CHECK(walk_table(world, table, range, sight) == walked(made, state, range));
    const Item item = random_item(random);
    if (index > 1) continue;
    const auto found = state.find(key_of(made, item));
    CHECK(get(world, table, item, sight) ==
          (found == state.end() ? std::nullopt : std::optional(found->second)));
  }
  CHECK(world.inconsistency(table).empty());
}

TEST_CASE("a read without a lag ends the lag of only the table or index that it reads", "[recent_writes]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user"), global_index("by_name", "user")};
  const auto carts = world.create(description);
  follow(world, {.writes = 3, .milliseconds = {}});
  world.put(carts, {{"id", "a"}, {"user", "u"}});
  const auto seen = [&](IndexId index, std::string_view copy) {
    return walk_table(world, carts, {.index = index}, behind(3, copy)).size();
  };
  CHECK(seen(0, "") == 0);
  CHECK(seen(1, "by_user") == 0);
  CHECK(get(world, carts, {{"id", "a"}}, Sight{}));
  CHECK(seen(0, "") == 1);
  CHECK(seen(1, "by_user") == 0);
  CHECK(walk_table(world, carts, {.index = 2}, Sight{.copy = "by_name", .lag = {}}).size() == 1);
  CHECK(seen(2, "by_name") == 1);
  CHECK(seen(1, "by_user") == 0);

  // A transaction's reads also see the latest state.
  world.remove(carts, {{"id", "a"}});
  CHECK(seen(0, "") == 1);
  const std::string key = key_of(description, {{"id", "a"}});
  const ItemReader::ItemName names[] = {{carts.get(), key}};
  CHECK_FALSE(world.database().reader().get_together(names)[0]);
  CHECK(seen(0, "") == 0);
}

TEST_CASE("a lag in milliseconds is measured by the account's clock", "[recent_writes]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  follow(world, {.writes = {}, .milliseconds = 1000});
  put_number(world, carts, 1);
  CHECK(n_of(world, carts, behind_ms(1000)) == -1);
  CHECK(n_of(world, carts, behind_ms(1)) == -1);  // on a frozen clock, writes do not age
  world.advance(world.now() + 400);
  put_number(world, carts, 2);
  world.advance(world.now() + 599);
  CHECK(n_of(world, carts, behind_ms(1000)) == -1);
  world.advance(world.now() + 1);
  CHECK(n_of(world, carts, behind_ms(1000)) == 1);
  CHECK(n_of(world, carts, behind_ms(600)) == 2);
  CHECK(n_of(world, carts, behind_ms(1000)) == 2);  // the read never goes back to an older state
  // Both limits apply: the number of writes and their age.
  follow(world, {.writes = 2, .milliseconds = 1000});
  put_number(world, carts, 3);
  put_number(world, carts, 4);
  put_number(world, carts, 5);
  CHECK(n_of(world, carts, {"", Lag{2, 1000}}) == 3);
  world.advance(world.now() + 1000);
  CHECK(n_of(world, carts, {"", Lag{2, 1000}}) == 5);
}

TEST_CASE("earlier writes become visible when a rule is set or removed or the writes are forgotten",
          "[recent_writes]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  RecentWrites& recent = world.database().recent_writes();
  put_number(world, carts, 1);
  follow(world, {.writes = 5, .milliseconds = {}});
  CHECK(n_of(world, carts, behind(5)) == 1);
  put_number(world, carts, 2);
  CHECK(n_of(world, carts, behind(5)) == 1);

  SECTION("the rule is removed") {
    recent.follow(std::string(account), {});
    CHECK_FALSE(recent.any());
    CHECK(recent.bytes() == 0);
  }
  SECTION("another rule replaces the first rule") { follow(world, {.writes = 4, .milliseconds = {}}); }
  SECTION("the new rule is for another table") { follow(world, {.writes = 5, .milliseconds = {}}, "orders"); }
  SECTION("the writes are forgotten") {
    recent.forget(account);
    CHECK(n_of(world, carts, behind(5)) == 2);
    put_number(world, carts, 3);  // the rule still applies
    CHECK(n_of(world, carts, behind(5)) == 2);
    return;
  }
  CHECK(n_of(world, carts, behind(5)) == 2);
}

TEST_CASE("after a restore or a reset or a drop no read sees the earlier state", "[recent_writes]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  RecentWrites& recent = world.database().recent_writes();
  put_number(world, carts, 1);
  const SnapshotId id = world.database().snapshots().take(account);
  follow(world, {.writes = 5, .milliseconds = {}});
  put_number(world, carts, 2);
  put_number(world, carts, 3);
  CHECK(n_of(world, carts, behind(1)) == 2);

  SECTION("a snapshot is restored") {
    REQUIRE(world.database().snapshots().restore(account, id));
    carts = world.find("carts");
    CHECK(n_of(world, carts, behind(5)) == 1);
    put_number(world, carts, 4);
    CHECK(n_of(world, carts, behind(5)) == 1);
    return;
  }
  SECTION("the table is dropped") { REQUIRE(world.database().tables().drop(carts)); }
  SECTION("the account is reset") { world.database().snapshots().reset(account); }
  CHECK(recent.bytes() == 0);
  carts = world.create(simple_table("carts"));
  CHECK(n_of(world, carts, behind(5)) == -1);
  put_number(world, carts, 7);
  CHECK(n_of(world, carts, behind(5)) == -1);
  CHECK(n_of(world, carts, Sight{}) == 7);
}

TEST_CASE("a lagging read sees no item that is due at the time of the read", "[recent_writes]") {
  World world;
  const auto carts = world.create(indexed_carts());
  world.enable_ttl(carts);
  follow(world, {.writes = 5, .milliseconds = {}});
  const auto put = [&](std::int64_t ttl) {
    world.put(carts, {{"id", "a"}, {"user", "u"}, {"ttl", number(ttl)}});
  };
  put(start_seconds + 10);
  static_cast<void>(get(world, carts, {{"id", "a"}}, Sight{}));
  static_cast<void>(walk_table(world, carts, {.index = 1}, Sight{.copy = "by_user", .lag = {}}));
  const auto seen = [&] {
    return std::pair(get(world, carts, {{"id", "a"}}, behind(5)).has_value(),
                     walk_table(world, carts, {.index = 1}, behind(5, "by_user")).size());
  };
  SECTION("the unseen write renews the item") { put(start_seconds + 100); }
  SECTION("the unseen write removes the item") { world.remove(carts, {{"id", "a"}}); }
  SECTION("there is no unseen write") {}
  CHECK(seen() == std::pair(true, std::size_t{1}));
  world.advance(start_ms + 10'001);
  CHECK(seen() == std::pair(false, std::size_t{0}));
}

TEST_CASE("a lagging read sees no expired item even if the table's mode or TTL changes later",
          "[recent_writes]") {
  World world;
  const auto carts = world.create(indexed_carts());
  world.enable_ttl(carts);
  follow(world, {.writes = 5, .milliseconds = {}});
  world.put(carts, {{"id", "a"}, {"user", "u"}, {"ttl", number(start_seconds + 10)}});
  REQUIRE(get(world, carts, {{"id", "a"}}, Sight{}));
  REQUIRE(walk_table(world, carts, {.index = 1}, Sight{.copy = "by_user", .lag = {}}).size() == 1);
  world.advance(start_ms + 10'001);
  const auto change = [&](const std::function<void(Table&)>& edit) {
    REQUIRE(world.database().tables().update(carts, edit));
  };
  SECTION("the table switches to aws mode") {
    change([](Table& table) { table.expiry = {.kind = ExpiryMode::Kind::aws}; });
  }
  SECTION("the table switches to manual mode") {
    change([](Table& table) { table.expiry = {.kind = ExpiryMode::Kind::manual}; });
  }
  SECTION("TTL is disabled") {
    change([](Table& table) { table.ttl.reset(); });
  }
  CHECK_FALSE(get(world, carts, {{"id", "a"}}, behind(5)));
  CHECK(walk_table(world, carts, {.index = 1}, behind(5, "by_user")).empty());
}

TEST_CASE("writes beyond the limits become visible and use no memory", "[recent_writes]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  RecentWrites& recent = world.database().recent_writes();
  SECTION("there are more writes than the lag allows") {
    follow(world, {.writes = 2, .milliseconds = {}});
    for (int i = 0; i < 1000; ++i) put_number(world, carts, i);
    CHECK(recent.bytes() < 20'000);
    CHECK(n_of(world, carts, behind(2)) == 997);
  }
  SECTION("the writes are older than the lag") {
    follow(world, {.writes = {}, .milliseconds = 100});
    for (int i = 0; i < 100; ++i) {
      put_number(world, carts, i);
      world.advance(world.now() + 50);
    }
    CHECK(recent.bytes() < 20'000);
    CHECK(n_of(world, carts, behind_ms(100)) == 98);
  }
  SECTION("the number of writes exceeds the limit") {
    follow(world, {.writes = {}, .milliseconds = 100});
    constexpr auto more = static_cast<int>(RecentWrites::writes_max) + 5;
    for (int i = 0; i < more; ++i) put_number(world, carts, i);
    CHECK(n_of(world, carts, behind_ms(100)) == 4);
  }
  SECTION("the size of the writes exceeds the limit") {
    follow(world, {.writes = {}, .milliseconds = 100});
    const std::string large(300'000, 'x');
    for (int i = 0; i < 400; ++i)
      world.put(carts, {{"id", "a"}, {"n", number(i)}, {"x", std::string(large)}});
    CHECK(recent.bytes() <= RecentWrites::bytes_max);
    CHECK(recent.bytes() > RecentWrites::bytes_max - 1'000'000);
    const int seen = n_of(world, carts, behind_ms(100));
    CHECK(seen > 100);
    CHECK(seen < 399);
  }
  recent.forget(account);
  CHECK(recent.bytes() == 0);
}

TEST_CASE("a read and all later reads see the stored data if the record of unseen writes was dropped",
          "[recent_writes]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  RecentWrites& recent = world.database().recent_writes();
  follow(world, {.writes = 2, .milliseconds = {}});
  const auto write = [&](std::uint64_t times) {
    for (; times > 0; --times) put_number(world, carts, static_cast<int>(times));
  };
  write(10);
  const Commit kept = recent.horizon(*carts, behind(2));
  write(RecentWrites::slack_writes);
  CHECK_FALSE(recent.unseen(*carts, behind(2), kept).empty());
  const Commit dropped = recent.horizon(*carts, behind(2));
  write(RecentWrites::slack_writes + 3);
  CHECK(recent.unseen(*carts, behind(2), dropped).empty());
  CHECK(n_of(world, carts, behind(2)) == 1);

  // Reads also see the stored data if all writes were forgotten in the meantime.
  const Commit forgotten = recent.horizon(*carts, behind(2));
  recent.forget(account);
  write(2);
  CHECK_FALSE(recent.unseen(*carts, behind(2), forgotten).empty());  // all writes since then are kept
  recent.forget(account);
  write(2);
  CHECK(recent.unseen(*carts, behind(2), forgotten).empty());
  CHECK(n_of(world, carts, behind(2)) == 1);
}

TEST_CASE("a read between two changes of one commit sees the whole commit and so do later reads",
          "[recent_writes]") {
  World world;
  const auto carts = world.create(simple_table("carts")), orders = world.create(simple_table("orders"));
  follow(world, {.writes = 1, .milliseconds = {}});
  int seen = 0;
  const auto subscription =
      world.database().change_feed().subscribe([&](const Change& change) {  // after RecentWrites's listener
        if (change.table->name != "carts") return;
        seen = static_cast<int>(world.database().recent_writes().horizon(*orders, behind(1)));
      });
  Transaction transaction(world.database().write_path(), Cause::user);
  const auto cart = transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
  const auto order = transaction.add(orders, key_of(*orders->description(), {{"id", "a"}}));
  REQUIRE(transaction.lock());
  transaction.put(cart, {{"id", "a"}, {"n", number(1)}});
  transaction.put(order, {{"id", "a"}, {"n", number(1)}});
  transaction.commit();
  REQUIRE(seen > 0);
  CHECK(n_of(world, orders, behind(1)) == 1);
  put_number(world, orders, 2);
  CHECK(n_of(world, orders, behind(1)) == 1);
}

TEST_CASE("during writes no reader goes back to an older state and no read sees half of a transaction",
          "[recent_writes][races]") {
  World world;
  const Table description = indexed_carts();
  const auto carts = world.create(description);
  follow(world, {.writes = 3, .milliseconds = {}});
  std::atomic<bool> stop{false};
  std::atomic<int> backwards{0}, halves{0}, reads{0};
  const auto write = [&](int n) {
    Transaction transaction(world.database().write_path(), Cause::user);
    for (const char* id : {"a", "b"}) transaction.add(carts, key_of(description, {{"id", id}}));
    if (!transaction.lock()) return;
    transaction.put(0, {{"id", "a"}, {"user", "u"}, {"n", number(n)}});
    transaction.put(1, {{"id", "b"}, {"user", "u"}, {"n", number(n)}});
    transaction.commit();
  };
  write(0);
  follow(world, {.writes = 3, .milliseconds = {}});
  std::thread writer([&] {
    for (int n = 1; !stop; ++n) write(n);
  });
  const auto number_in = [](const Item& item) {
    return std::stoi(item.find("n")->get_if<Number>()->to_string());
  };
  const auto read = [&](unsigned seed) {
    std::mt19937 random(seed);
    int last = 0, last_of_index = 0;
    const auto advance_to = [&](int& from, int n) {
      backwards += n < from;
      from = n;
    };
    while (!stop) {
      Sight sight = behind(random() % 3 + 1);
      if (random() % 4 == 0) sight.lag.reset();
      if (random() % 2 == 0) {
        advance_to(last, n_of(world, carts, sight));
      } else {
        const bool of_index = random() % 2 == 0;
        if (of_index) sight.copy = "by_user";
        const auto items = walk_table(world, carts, {.index = IndexId{of_index}}, sight);
        halves += items.size() != 2 || number_in(items[0]) != number_in(items[1]);
        if (!items.empty()) advance_to(of_index ? last_of_index : last, number_in(items[0]));
      }
      ++reads;
    }
  };
  std::thread first([&] { read(1); });
  std::thread second([&] { read(2); });
  while (reads < 20'000) std::this_thread::yield();
  stop = true;
  writer.join();
  first.join();
  second.join();
  CHECK(backwards == 0);
  CHECK(halves == 0);
}

}  // namespace mayfly::testing
