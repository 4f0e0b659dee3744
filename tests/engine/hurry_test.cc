#include "engine/base/hurry.h"

#include <catch2/catch.hpp>
#include <shared_mutex>
#include <thread>

#include "engine/base/gate.h"
#include "engine/tables/lock_table.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;
using Because = NotNow::Because;

namespace {

// The reason why the work was abandoned; nullopt if it was completed.
template <class Work>
std::optional<Because> given_up(std::int64_t nanoseconds_max, Work&& work) {
  try {
    const Hurry hurry(nanoseconds_max);
    work();
  } catch (const NotNow& why) {
    return why.because;
  }
  return std::nullopt;
}

template <class Work>
void in_another_thread(Work&& work) {
  std::thread(work).join();
}

}  // namespace

TEST_CASE("work in a Hurry is abandoned when its announced cost exceeds the budget", "[hurry]") {
  const auto spend_twice = [] {
    Hurry::spend(60);
    Hurry::spend(60);
  };
  CHECK(given_up(120, spend_twice) == std::nullopt);
  CHECK(given_up(119, spend_twice) == Because::it_works);
  spend_twice();  // without a Hurry
  CHECK_FALSE(Hurry::is_on());
}

TEST_CASE("work is no longer abandoned after the Hurry has ended", "[hurry]") {
  CHECK(given_up(10, [] {
          Hurry::end();
          Hurry::spend(1'000'000);
          CHECK_FALSE(Hurry::is_on());
        }) == std::nullopt);
}

TEST_CASE("a thread in a Hurry abandons its work if a gate is held exclusively", "[hurry]") {
  Gate gate;
  gate.lock();
  in_another_thread(
      [&] { CHECK(given_up(1, [&] { const std::shared_lock lock(gate); }) == Because::it_waits); });
  gate.unlock();
  CHECK(given_up(1, [&] { const std::shared_lock lock(gate); }) == std::nullopt);
  gate.lock();  // the gate is free
  gate.unlock();
}

TEST_CASE("a thread in a Hurry that abandons its work releases the item locks it has taken", "[hurry]") {
  LockTable table;
  ItemLocks first;
  first.take(table, {7});
  in_another_thread([&] {
    CHECK(given_up(1, [&] {
            ItemLocks second;
            second.take(table, {5, 9, 7});
          }) == Because::it_waits);
  });
  ItemLocks third;
  third.take(table, {5, 9});
  first.release();
  ItemLocks fourth;
  CHECK(given_up(1, [&] { fourth.take(table, {7}); }) == std::nullopt);
}

TEST_CASE("a transaction that a Hurry abandons changes nothing and releases its item", "[hurry]") {
  World world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::new_and_old_images);
  auto carts = world.create(description);
  world.put(carts, {{"id", "a"}, {"text", std::string(1000, 'x')}});
  const auto replace = [&] { world.put(carts, {{"id", "a"}, {"text", std::string(2000, 'y')}}); };
  // At 1 ns per byte, 500 ns is not enough to read the old item, and 2000 ns is not enough to read the old
  // item and write the new one.
  CHECK(given_up(500, replace) == Because::it_works);
  CHECK(given_up(2000, replace) == Because::it_works);
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}, {"text", std::string(1000, 'x')}});
  CHECK(world.records(carts->description()->stream->id).size() == 1);

  CHECK(given_up(10'000, replace) == std::nullopt);
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}, {"text", std::string(2000, 'y')}});
  CHECK(world.records(carts->description()->stream->id).size() == 2);
  CHECK(inconsistency(world.database()).empty());
}

TEST_CASE("a transaction in a Hurry is abandoned if another transaction has locked its item", "[hurry]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  Transaction transaction(world.database().write_path(), Cause::user);
  const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
  REQUIRE(transaction.lock());
  in_another_thread([&] {
    CHECK(given_up(1'000'000, [&] { world.put(carts, {{"id", "a"}, {"v", "1"}}); }) == Because::it_waits);
  });
  transaction.put(slot, {{"id", "a"}, {"v", "2"}});
  transaction.commit();
  CHECK(world.get(carts, {{"id", "a"}}) == Item{{"id", "a"}, {"v", "2"}});
}

}  // namespace mayfly::testing
