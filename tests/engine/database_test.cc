#include "engine/database.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "engine/database.h"
#include "engine/storage/storage.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

TEST_CASE("opening a directory that is in use fails with a readable error", "[database]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  const auto second = Database::open({.directory = directory.path()});
  REQUIRE_FALSE(second);
  CHECK(second.error() == "the data directory " + directory.path() + " is in use by another process");
}

TEST_CASE("in-memory databases share no data", "[database]") {
  World one, other;
  one.create(simple_table("carts"));
  CHECK_FALSE(other.find("carts"));
}

TEST_CASE("a database takes its time from the given clock", "[database]") {
  World world;
  CHECK(world.database().accounts().of("000000000000").now() == start_ms);
  world.advance(start_ms + 5);
  CHECK(world.database().accounts().of("000000000000").now() == start_ms + 5);
  world.advance(start_ms);  // time never goes back
  CHECK(world.database().accounts().of("000000000000").now() == start_ms + 5);
  CHECK(world.create(simple_table("carts"))->description()->created == start_ms + 5);
}

TEST_CASE("a data directory keeps the TTL window length that it was created with", "[database]") {
  const TemporaryDirectory directory;
  auto clock = std::make_shared<ManualClock>(start_ms);
  for (const std::int64_t window_ms : {60'000, 1'000}) {
    World world(
        {.directory = directory.path(), .clock = clock, .expiry_window_ms = window_ms, .reap = false});
    auto carts = world.find("carts");
    if (!carts) {
      carts = world.create(simple_table("carts"));
      world.enable_ttl(carts);
      world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 30)}});
    }
    CHECK(world.inconsistency(carts) == "");
    world.remove(carts, {{"id", "b"}});
    world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 90 - window_ms / 1000)}});
    CHECK(world.inconsistency(carts) == "");
  }
}

TEST_CASE("a table's description does not change during a write", "[database]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  Transaction transaction(world.database().write_path(), Cause::user);
  const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
  REQUIRE(transaction.lock());
  CHECK(transaction.table(slot).indexes.empty());
  std::thread changing([&] {
    world.database().tables().update(
        carts, [](Table& table) { table.indexes.push_back(global_index("g", "user")); });
  });
  // Whatever the other thread does, the write sees the same set of indexes until the write ends.
  transaction.put(slot, {{"id", "a"}, {"user", "u"}});
  CHECK(transaction.table(slot).indexes.empty());
  transaction.commit();
  changing.join();
  CHECK(world.all(carts, 1).size() == 1);
  CHECK(world.inconsistency(carts) == "");
}

TEST_CASE("memory used by overwritten items is reclaimed", "[database]") {
  World world({.reap = false, .memory_bytes_max = 64 << 20});
  auto carts = world.create(simple_table("carts"));
  const Storage& storage = world.database().storage();
  for (int puts = 0; puts < 1000 && storage.has_room(); ++puts) {
    world.put(carts, {{"id", std::to_string(puts % 30)},
                      {"a", std::string(390'000, static_cast<char>('a' + puts % 26))}});
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!storage.has_room() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(storage.has_room());
}

}  // namespace mayfly::testing
