// Replication beside changes of its tables: whatever comes at whichever place of it, the last write stays.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <utility>

#include "engine/interleaving.h"
#include "tests/support/engine_world.h"
#include "tests/support/global_tables.h"

namespace mayfly::testing {

using namespace engine;

namespace {

// Begins at the n-th place that the test's thread comes to, in a thread of its own, and goes on until it is
// done or has to wait for the test's.
class Beside final : public Interleaving {
 public:
  Beside(int place, std::function<void()> work) : left_(place), work_(std::move(work)) { use(this); }
  ~Beside() {
    if (thread_.joinable()) thread_.join();
    use(nullptr);
  }
  void reached(std::string_view) override {
    if (std::this_thread::get_id() != first_ || --left_ != 0) return;
    begun = true;
    thread_ = std::thread([this] {
      work_();
      stop();
    });
    stopped_.wait(false);
  }
  bool blocked() override {
    if (std::this_thread::get_id() != first_) stop();
    std::this_thread::yield();
    return true;
  }
  bool begun = false;

 private:
  void stop() {
    stopped_ = true;
    stopped_.notify_all();
  }

  int left_;
  const std::function<void()> work_;
  const std::thread::id first_ = std::this_thread::get_id();
  std::thread thread_;
  std::atomic<bool> stopped_{false};
};

// Calls `story` with 1, 2, ... until it says that the place was beyond the last; returns how many there were.
int at_each_place(const std::function<bool(int place)>& story) {
  int place = 1;
  while (story(place)) ++place;
  return place - 1;
}

}  // namespace

// The first bug of replicas that the simulation found: what was on its way took away what was written after
// it.
TEST_CASE("wherever a replica goes while its writes arrive, the last write stays", "[replication]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    set_way(world, "eu-west-1", "us-east-1", {.paused = true});
    world.put(in(world, "eu-west-1"), cart("a", "first"));
    world.put(carts, cart("a", "second"));
    set_way(world, "eu-west-1", "us-east-1", {});
    bool begun = false;
    {
      Beside removal(place, [&] {
        static_cast<void>(
            world.database().update_together(in(world, "us-east-1"), [](std::vector<Table>& tables) {
              return std::erase_if(tables, [](const Table& table) { return table.region == "eu-west-1"; }) ==
                     1;
            }));
      });
      settle(world);
      begun = removal.begun;
    }
    INFO("the replica goes at place " << place);
    CHECK(world.get(carts, {{"id", "a"}}) == cart("a", "second"));
    CHECK(world.inconsistency(carts).empty());
    return begun;
  });
  CHECK(places > 5);
}

// Replication went on from how far it had been before: it forgot the deletion, and then the write arrived.
TEST_CASE("wherever a restore comes while writes arrive, a deletion outlives the write before it",
          "[replication]") {
  const int places = at_each_place([](int place) {
    World world;
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    world.put(carts, cart("a", "before"));
    settle(world);
    set_way(world, "us-east-1", "eu-west-1", {.paused = true});
    world.put(carts, cart("a", "written"));
    world.remove(in(world, "eu-west-1"), {{"id", "a"}});
    const SnapshotId snapshot = world.database().take_snapshot(account);
    set_way(world, "us-east-1", "eu-west-1", {});
    settle(world);
    bool begun = false;
    {
      Beside restore(place, [&] { REQUIRE(world.database().restore_snapshot(account, snapshot)); });
      settle(world);
      begun = restore.begun;
    }
    set_way(world, "us-east-1", "eu-west-1", {});
    settle(world);
    INFO("the restore comes at place " << place);
    CHECK(world.all(in(world, "us-east-1")).empty());
    CHECK(world.all(in(world, "eu-west-1")).empty());
    CHECK(world.inconsistency(in(world, "us-east-1")).empty());
    return begun;
  });
  CHECK(places > 5);
}

// It took what was left to copy for copied.
TEST_CASE("wherever a restore comes once a replica has the items, they are copied again", "[replication]") {
  const int places = at_each_place([](int place) {
    World world({.reap = false, .backfill_at_once_max = 0});
    auto carts = world.create(simple_table("carts"));
    world.put(carts, cart("a", "1"));
    world.put(carts, cart("b", "2"));
    replicate(world, carts, {"eu-west-1"});
    const SnapshotId snapshot = world.database().take_snapshot(account);
    settle(world);
    REQUIRE(world.all(in(world, "eu-west-1")).size() == 2);
    bool begun = false;
    {
      Beside restore(place, [&] { REQUIRE(world.database().restore_snapshot(account, snapshot)); });
      settle(world);
      begun = restore.begun;
    }
    settle(world);
    INFO("the restore comes at place " << place);
    CHECK(world.all(in(world, "eu-west-1")).size() == 2);
    CHECK(in(world, "eu-west-1")->description()->copies_from.empty());
    CHECK(world.inconsistency(in(world, "us-east-1")).empty());
    return begun;
  });
  CHECK(places > 3);
}

}  // namespace mayfly::testing
