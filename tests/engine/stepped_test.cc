// Steps background tasks in an order that a seed chooses.
#include <catch2/catch.hpp>
#include <random>

#include "engine/database.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

using namespace engine;

namespace {

struct SteppedWorld {
  explicit SteppedWorld(std::uint64_t seed) : scheduler(std::make_shared<SteppedScheduler>(clock, seed)) {}

  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler;
  World world{
      {.clock = clock, .reap = true, .backfill_at_once_max = 0, .make_scheduler = [this](std::size_t) {
         return scheduler;
       }}};
};

Item expiring(int id, std::int64_t in_seconds) {
  return {{"id", std::to_string(id)}, {"user", "u"}, {"ttl", number(start_seconds + in_seconds)}};
}

std::size_t stored_items(const std::shared_ptr<LiveTable>& table) {
  return static_cast<std::size_t>(table->counter(0).items);
}

// All stream records of a random run, as text. The same seed gives the same text.
std::string run(std::uint64_t seed) {
  SteppedWorld stepped(seed);
  World& world = stepped.world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::keys_only);
  auto carts = world.create(description);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 400; ++i) {
    switch (random() % 8) {
      case 0: world.database().tables().update(carts, [](Table& table) { table.ttl.reset(); }); break;
      case 1: world.enable_ttl(carts); break;
      case 2: stepped.clock->move(static_cast<Instant>(random() % 5000)); break;
      case 3:
        if (carts->description()->indexes.empty()) {
          world.database().tables().update(
              carts, [](Table& table) { table.indexes.push_back(global_index("by_user", "user")); });
        } else {
          world.database().tables().update(carts, [](Table& table) { table.indexes.clear(); });
        }
        break;
      case 4:
      case 5: stepped.scheduler->step_one(); break;
      default: {
        const int id = static_cast<int>(random() % 50);
        world.put(carts, expiring(id, static_cast<std::int64_t>(random() % 600)));
      }
    }
  }
  world.enable_ttl(carts);
  stepped.scheduler->run();
  CHECK(world.inconsistency(carts) == "");
  CHECK_FALSE(carts->description()->ttl->backfilling);
  stepped.clock->move(3'000'000);
  stepped.scheduler->run();
  CHECK(stored_items(carts) == 0);
  CHECK(world.inconsistency(carts) == "");

  std::string text;
  for (const ChangeRecord& record : world.records(carts->description()->stream->id))
    text += std::to_string(record.sequence) + "@" + std::to_string(record.created - start_ms) +
            (record.cause == Cause::time_to_live ? " ttl " : " user ") +
            *record.keys.find("id")->get_if<std::string>() + "\n";
  return text;
}

}  // namespace

TEST_CASE("due items are hidden immediately and deleted by the reaper's next step", "[scheduler]") {
  SteppedWorld stepped(1);
  World& world = stepped.world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  for (int i = 0; i < 10; ++i) world.put(carts, expiring(i, 60));
  stepped.scheduler->run();
  CHECK(stored_items(carts) == 10);
  stepped.clock->move(60'001);
  CHECK(stored_items(carts) == 10);
  CHECK(world.all(carts).empty());
  CHECK(stepped.scheduler->step_one());
  CHECK(stored_items(carts) == 0);
}

TEST_CASE("the reaper and backfills leave tables correct in whatever order they take their steps",
          "[scheduler][holds]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const std::string first = run(seed);
    CHECK_FALSE(first.empty());
    CHECK(run(seed) == first);
  }
}

}  // namespace mayfly::testing
