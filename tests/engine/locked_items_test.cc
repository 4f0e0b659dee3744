#include "engine/items/locked_items.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

struct Tables {
  World world;
  std::shared_ptr<LiveTable> carts = world.create(simple_table("carts"));
  std::shared_ptr<LiveTable> orders = world.create(simple_table("orders"));

  std::string key(const std::string& id) const { return key_of(*carts->description(), {{"id", id}}); }
};

}  // namespace

TEST_CASE("requests that lock the same items in opposite orders neither deadlock nor overlap",
          "[transaction]") {
  Tables tables;
  int held = 0;  // not atomic: the locks protect it
  constexpr int rounds = 2000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        LockedItems items(tables.world.database().write_path());
        if ((thread + round) % 2 == 0) {
          items.add(tables.carts, tables.key("a"));
          items.add(tables.orders, tables.key("b"));
        } else {
          items.add(tables.orders, tables.key("b"));
          items.add(tables.carts, tables.key("a"));
        }
        if (items.lock(round % 3 == 0 ? "token" : "") != LockedItems::Outcome::locked) return;
        ++held;
        for (const ItemChange& item : items.items()) {
          const bool cart = items.live_of(item).id() == tables.carts->id();
          if (item.key != tables.key(cart ? "a" : "b")) return;  // sorting does not mix up the items' tables
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(held == 3 * rounds);
}

TEST_CASE("items of a table that is dropped while requests lock them cannot be locked afterward",
          "[transaction]") {
  Tables tables;
  std::atomic<bool> dropped{false};
  std::atomic<int> locked{0}, refused{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&] {
      while (refused < 100) {
        const bool was_dropped = dropped;
        LockedItems items(tables.world.database().write_path());
        items.add(tables.carts, tables.key("a"));
        items.add(tables.orders, tables.key("b"));
        const bool took = items.lock("") == LockedItems::Outcome::locked;
        took ? ++locked : ++refused;
        wrong += took != items.are_held() || (took && was_dropped);
      }
    });
  }
  while (locked < 100) std::this_thread::yield();
  REQUIRE(tables.world.database().tables().drop(tables.orders));
  dropped = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(refused >= 100);
  LockedItems carts(tables.world.database().write_path());
  carts.add(tables.carts, tables.key("a"));
  CHECK(carts.lock("") == LockedItems::Outcome::locked);
}

}  // namespace mayfly::testing
