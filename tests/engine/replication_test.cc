// Compares the replicas of a global table with a model that knows each item's last write.
#include "engine/background/replication.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <thread>

#include "engine/background/history.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/replica_log.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"
#include "tests/support/global_tables.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::size_t stored_keys_of_kind(World& world, char kind) {
  Storage::Iterator iterator(world.database().storage(), std::string(1, kind),
                             std::string(1, static_cast<char>(kind + 1)));
  std::size_t count = 0;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) ++count;
  return count;
}

std::vector<ChangeRecord> records_of(World& world, const std::string& region) {
  return world.records(in(world, region)->description()->stream->id);
}

std::vector<Item> sorted(std::vector<Item> items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return *a.find("id")->get_if<std::string>() < *b.find("id")->get_if<std::string>();
  });
  return items;
}

const std::vector<std::string> regions = {"us-east-1", "eu-west-1", "ap-south-1"};

}  // namespace

TEST_CASE("a new replica has all items and receives each later write with a stream record", "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.put(carts, cart("a", "1"));
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  REQUIRE(replica);
  CHECK(replica->description()->uuid != carts->description()->uuid);
  CHECK(replica->description()->copies_from.empty());
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "1"));
  CHECK(records_of(world, "eu-west-1").empty());  // copying makes no records

  world.put(carts, cart("a", "2"));
  world.put(carts, cart("a", "3"));
  world.put(replica, cart("b", "1"));
  world.remove(replica, {{"id", "b"}});
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "1"));  // replication is asynchronous
  CHECK(world.database().replication().in_flight(account).at(0).writes == 2);
  settle(world);
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "3"));
  CHECK_FALSE(world.get(carts, {{"id", "b"}}));
  const auto records = records_of(world, "eu-west-1");
  REQUIRE(records.size() == 4);
  CHECK(records[2].kind == ChangeRecord::Kind::modify);
  CHECK(records[2].new_image == cart("a", "2"));
  CHECK(records[3].old_image == cart("a", "2"));
  CHECK(records_of(world, "us-east-1").size() == 4);
  CHECK(stored_keys_of_kind(world, 'F') == 0);
  CHECK(stored_keys_of_kind(world, 'Y') == 0);  // no older write is in flight, so no tombstone is needed
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a write arrives when its route is open and the route's lag has passed on the account's clock",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  set_route(world, "us-east-1", "eu-west-1", {.lag_ms = 500});
  world.put(carts, cart("a", "1"));
  world.advance(start_ms + 499);
  CHECK_FALSE(world.get(replica, {{"id", "a"}}));
  world.advance(start_ms + 500);
  CHECK(world.get(replica, {{"id", "a"}}));

  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.put(carts, cart("a", "2"));
  world.put(replica, cart("b", "1"));
  world.advance(start_ms + 60'000);
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "1"));
  CHECK(world.get(carts, {{"id", "b"}}));  // the opposite route is open
  const auto flight = world.database().replication().in_flight(account).at(0);
  CHECK(flight.writes == 1);
  CHECK(flight.oldest == start_ms + 500);
  set_route(world, "us-east-1", "eu-west-1", {});
  settle(world);
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "2"));
}

TEST_CASE("an account's number of route settings and its number of writes in flight are limited",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  Replication& replication = world.database().replication();
  for (std::size_t i = 0; i < Replication::routes_max; ++i)
    set_route(world, "us-east-1", "region-" + std::to_string(i), {.paused = true});
  CHECK_FALSE(replication.set_route(account, {"us-east-1", "eu-west-1"}, {.paused = true}));
  set_route(world, "us-east-1", "region-0", {.lag_ms = 1});  // a route that has a setting can be changed;
  set_route(world, "us-east-1", "region-0", {});             // the default setting is not counted
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  Batch batch;
  const Departure departure{.at = start_ms, .version = 2, .origin = 1, .key = "key", .item = {}};
  for (Sequence i = 1; i <= InFlight::counted_max + 1; ++i)
    batch.put(departure_key(carts->id(), in(world, "eu-west-1")->id(), i), encode_departure(departure));
  world.database().storage().write(batch);
  CHECK(replication.in_flight(account).at(0).writes == InFlight::counted_max);
}

TEST_CASE("the later of two regions' writes prevails in both regions even if the later write is a deletion",
          "[replication]") {
  World world;  // on a frozen clock
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  world.put(carts, cart("a", "east"));
  world.put(replica, cart("a", "west"));
  world.put(replica, cart("b", "west"));
  world.put(carts, cart("b", "east"));
  world.put(carts, cart("c", "east"));
  world.put(replica, cart("c", "west"));
  world.remove(replica, {{"id", "c"}});
  settle(world);
  for (const auto& table : {carts, replica}) {
    CHECK(world.get(table, {{"id", "a"}}) == cart("a", "west"));
    CHECK(world.get(table, {{"id", "b"}}) == cart("b", "east"));
    CHECK_FALSE(world.get(table, {{"id", "c"}}));
  }
  CHECK(stored_keys_of_kind(world, 'Y') == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an item expires where it was written and its removal arrives elsewhere as a user's deletion",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  world.put(replica, {{"id", "b"}, {"ttl", number(start_seconds + 10)}});
  settle(world);
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  CHECK(world.advance(start_ms + 10'001) == 2);
  CHECK(world.all(carts).empty());
  CHECK(world.all(replica).empty());  // hidden immediately, although the removal is in flight
  const auto causes = [&](const std::string& region) {
    std::map<std::string, Cause> result;
    for (const ChangeRecord& record : records_of(world, region))
      if (record.kind == ChangeRecord::Kind::remove)
        result[*record.keys.find("id")->get_if<std::string>()] = record.cause;
    return result;
  };
  CHECK(causes("us-east-1") == std::map<std::string, Cause>{{"a", Cause::time_to_live}, {"b", Cause::user}});
  CHECK(causes("eu-west-1") == std::map<std::string, Cause>{{"b", Cause::time_to_live}});
  set_route(world, "us-east-1", "eu-west-1", {});
  settle(world);
  CHECK(causes("eu-west-1") == std::map<std::string, Cause>{{"a", Cause::user}, {"b", Cause::time_to_live}});
  CHECK(stored_keys_of_kind(world, 'W') == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an expiry removes the version that expired and never a later version from another region",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  settle(world);
  set_route(world, "eu-west-1", "us-east-1", {.paused = true});
  const Item renewed{{"id", "a"}, {"ttl", number(start_seconds + 1000)}};
  world.put(replica, renewed);  // the renewal is in time but has not arrived where the item expires
  CHECK(world.advance(start_ms + 10'001) == 1);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(world.get(replica, {{"id", "a"}}) == renewed);
  set_route(world, "eu-west-1", "us-east-1", {});
  settle(world);
  CHECK(world.get(carts, {{"id", "a"}}) == renewed);
  CHECK(world.get(replica, {{"id", "a"}}) == renewed);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a write to an item that has expired in another region does not wait for the item's removal",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1"});
  auto replica = in(world, "eu-west-1");
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  settle(world);
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.advance(start_ms + 10'001);
  world.put(replica, cart("a", "new"));
  const auto records = records_of(world, "eu-west-1");
  REQUIRE(records.size() == 3);
  CHECK(records[1].kind == ChangeRecord::Kind::remove);
  CHECK(records[1].cause == Cause::user);
  CHECK(records[2].kind == ChangeRecord::Kind::insert);
  set_route(world, "us-east-1", "eu-west-1", {});
  settle(world);
  CHECK(records_of(world, "eu-west-1").size() == 3);
  CHECK(world.get(carts, {{"id", "a"}}) == cart("a", "new"));
  CHECK(world.get(replica, {{"id", "a"}}) == cart("a", "new"));
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("after a region is removed its items expire in the oldest remaining region", "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1"});
  replicate(world, carts, {"ap-south-1"});
  world.put(in(world, "eu-west-1"), {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  settle(world);
  remove_replica(world, "us-east-1", "eu-west-1");
  CHECK_FALSE(in(world, "eu-west-1"));
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.advance(start_ms + 10'001) == 1);
  CHECK(records_of(world, "us-east-1").back().cause == Cause::time_to_live);
  CHECK(records_of(world, "ap-south-1").back().cause == Cause::user);
  remove_replica(world, "us-east-1", "ap-south-1");
  CHECK(carts->description()->replicas.empty());
  for (const char kind : {'W', 'Y', 'F'}) CHECK(stored_keys_of_kind(world, kind) == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("writes in flight can be queried for one source and one target table", "[replication]") {
  World world({.reap = false});
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  replicate(world, carts, {"ap-south-1"});
  auto trips = world.create(simple_table("trips"));
  replicate(world, trips, {"eu-west-1"});
  const auto is_in_flight = [&](const std::string& from, const std::string& to, const char* name = "carts") {
    return world.database().replication().is_in_flight(in(world, from, name)->id(),
                                                       in(world, to, name)->id());
  };
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.put(carts, cart("a", "1"));
  CHECK(is_in_flight("us-east-1", "eu-west-1"));
  CHECK(is_in_flight("us-east-1", "ap-south-1"));
  CHECK_FALSE(is_in_flight("eu-west-1", "us-east-1"));
  CHECK_FALSE(is_in_flight("us-east-1", "eu-west-1", "trips"));
  settle(world);
  CHECK(is_in_flight("us-east-1", "eu-west-1"));
  CHECK_FALSE(is_in_flight("us-east-1", "ap-south-1"));
  set_route(world, "us-east-1", "eu-west-1", {});
  settle(world);
  CHECK_FALSE(is_in_flight("us-east-1", "eu-west-1"));
}

TEST_CASE("a replica that leaves its global table keeps its items and the other replicas keep replicating",
          "[replication]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1"});
  replicate(world, carts, {"ap-south-1"});
  world.put(in(world, "eu-west-1"), {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  world.put(carts, {{"id", "b"}, {"ttl", number(start_seconds + 10)}});
  settle(world);
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.put(carts, cart("c", "1"));  // never arrives in eu-west-1
  REQUIRE(world.database().tables().update_together(in(world, "eu-west-1"), [](std::vector<Table>& tables) {
    for (Table& table : tables)
      if (table.region == "eu-west-1") table.replicas.clear();
    return true;
  }));
  world.reopen();
  settle(world);
  CHECK(in(world, "eu-west-1")->description()->replicas.empty());
  for (const char* region : {"us-east-1", "ap-south-1"}) {
    CHECK(in(world, region)->description()->replicas.size() == 1);
    CHECK(world.all(in(world, region)).size() == 3);
  }
  CHECK(world.all(in(world, "eu-west-1")).size() == 2);
  CHECK(world.inconsistency(in(world, "us-east-1")).empty());
  // The other two tables replicate to each other, but not to this table.
  CHECK(world.advance(start_ms + 10'001) == 4);
  CHECK(world.all(in(world, "eu-west-1")).empty());
  CHECK(records_of(world, "eu-west-1").back().cause == Cause::time_to_live);
  CHECK(sorted(world.all(in(world, "us-east-1"))) == std::vector<Item>{cart("c", "1")});
  CHECK(sorted(world.all(in(world, "ap-south-1"))) == std::vector<Item>{cart("c", "1")});
  CHECK(world.inconsistency(in(world, "us-east-1")).empty());
}

TEST_CASE("each table dropped together with others leaves a point in time if its recovery is enabled",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1", "ap-south-1"});
  for (const char* region : {"us-east-1", "eu-west-1"})
    REQUIRE(world.database().history().keep(in(world, region), 35));
  const auto together = world.database().tables().update_together(
      carts,
      [](std::vector<Table>& tables) {
        tables.clear();
        return true;
      },
      no_limit, Catalog::Leaving::point_if_recoverable);
  REQUIRE(together);
  CHECK(together->dropped.size() == 3);
  REQUIRE(together->points.size() == 2);
  CHECK(together->points[0].id != together->points[1].id);
  for (const Point& point : together->points) {
    const auto found = world.database().history().find_point(point.id);
    REQUIRE(found);
    CHECK(found->table.id == point.table.id);
    CHECK(found->table.region != "ap-south-1");
  }
}

TEST_CASE("a replica that is added while writes are in flight gets all of these writes and no deleted item",
          "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"eu-west-1"});
  auto second = in(world, "eu-west-1");
  world.put(carts, cart("a", "1"));
  world.put(carts, cart("b", "1"));
  settle(world);
  set_route(world, "us-east-1", "eu-west-1", {.paused = true});
  world.remove(carts, {{"id", "a"}});
  world.put(carts, cart("b", "2"));
  world.put(carts, cart("c", "1"));
  replicate(world, second, {"ap-south-1"});  // requested in a region where the writes have not arrived yet
  auto third = in(world, "ap-south-1");
  CHECK(sorted(world.all(third)) == std::vector<Item>{cart("b", "2"), cart("c", "1")});
  set_route(world, "us-east-1", "eu-west-1", {});
  settle(world);
  CHECK(sorted(world.all(second)) == sorted(world.all(third)));
  CHECK(sorted(world.all(carts)) == sorted(world.all(third)));
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a change to a global table takes effect in all regions or in none no matter which write fails",
          "[replication]") {
  for (int fails_at = 0; fails_at < 12; ++fails_at) {
    const TemporaryDirectory directory;
    auto writes_left = std::make_shared<int>(-1);
    World world({.directory = directory.path(), .reap = false, .write_fails = [writes_left] {
                   return *writes_left >= 0 && (*writes_left)-- == 0;
                 }});
    auto carts = world.create(simple_table("carts"));
    for (int i = 0; i < 100; ++i) world.put(carts, cart(std::to_string(i), "v"));
    *writes_left = fails_at;
    bool failed = false;
    try {
      replicate(world, carts, {"eu-west-1"});
    } catch (const StorageFault&) {
      failed = true;
    }
    *writes_left = -1;
    CAPTURE(fails_at, failed);
    world.reopen();
    settle(world);
    carts = in(world, "us-east-1");
    CHECK(world.inconsistency(carts).empty());
    const auto replica = in(world, "eu-west-1");
    CHECK((replica != nullptr) == !carts->description()->replicas.empty());
    if (replica) {
      CHECK(replica->description()->copies_from.empty());
      CHECK(sorted(world.all(replica)) == sorted(world.all(carts)));
    }
  }
}

TEST_CASE("a write in flight arrives exactly once no matter which storage write fails", "[replication]") {
  for (int fails_at = 0; fails_at < 4; ++fails_at) {
    auto writes_left = std::make_shared<int>(-1);
    World world(
        {.reap = false, .write_fails = [writes_left] { return *writes_left >= 0 && (*writes_left)-- == 0; }});
    auto carts = world.create(simple_table("carts"));
    replicate(world, carts, {"eu-west-1"});
    for (int i = 0; i < 100; ++i) world.put(carts, cart(std::to_string(i % 80), std::to_string(i)));
    world.remove(carts, {{"id", "7"}});
    *writes_left = fails_at;
    CHECK_THROWS_AS(settle(world), StorageFault);
    *writes_left = -1;
    settle(world);
    CHECK(sorted(world.all(in(world, "eu-west-1"))) == sorted(world.all(carts)));
    CHECK(records_of(world, "eu-west-1").size() == 101);
    CHECK(world.inconsistency(carts).empty());
  }
}

namespace {

// Writes random items in three regions. Between writes, routes are paused, delayed and reopened, replicas are
// added and removed, time passes, the database is reopened, and snapshots are restored.
class Story {
 public:
  Story(std::uint64_t seed, bool durable) : random_(seed), durable_(durable) {
    world_ = std::make_unique<World>(
        DatabaseOptions{.directory = durable ? directory_.path() : std::string(), .reap = false});
    auto carts = world_->create(simple_table("carts"));
    for (int i = 0; i < 20; ++i) write(regions[0]);
    replicate(*world_, carts, {regions[1]});
    members_ = {regions[0], regions[1]};
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      if (i % 40 == 0) {
        const std::string wrong = world_->inconsistency(in(*world_, regions[0]));
        INFO(wrong);
        REQUIRE(wrong.empty());
      }
    }
    for (const auto& from : regions)
      for (const auto& to : regions)
        if (from != to) set_route(*world_, from, to, {});
    settle(*world_);
    check();
  }

 private:
  void step() {
    switch (random_() % 24) {
      case 0: set_route(*world_, region(), region(), {.paused = random_() % 2 == 0}); break;
      case 1:
        set_route(*world_, region(), region(), {.lag_ms = static_cast<Instant>(random_() % 2000)});
        break;
      case 2: world_->advance(world_->now() + static_cast<Instant>(random_() % 1000)); break;
      case 3: settle(*world_); break;
      case 4: change_members(); break;
      case 5:
        if (durable_) world_->reopen();
        break;
      case 6:
        if (random_() % 2 == 0) {
          snapshots_.insert_or_assign(world_->database().snapshots().take(account),
                                      std::pair(model_, members_));
        } else if (!snapshots_.empty()) {
          auto snapshot = snapshots_.begin();
          std::advance(snapshot, static_cast<std::ptrdiff_t>(random_() % snapshots_.size()));
          REQUIRE(world_->database().snapshots().restore(account, snapshot->first));
          std::tie(model_, members_) = snapshot->second;
        }
        break;
      case 7: change_index(); break;
      default: write(members_.empty() ? regions[0] : members_[random_() % members_.size()]);
    }
  }

  std::string region() { return regions[random_() % regions.size()]; }

  void change_members() {
    const std::string& which = regions[1 + random_() % 2];
    const auto member = std::find(members_.begin(), members_.end(), which);
    if (member == members_.end()) {
      replicate(*world_, in(*world_, members_[random_() % members_.size()]), {which});
      // A replica serves requests only after it has received all items.
      settle_copies(which);
      members_.push_back(which);
    } else if (random_() % 3 == 0) {
      // Removing the replica would lose the writes that it has not sent, so first let the replica send all of
      // them.
      for (const auto& to : regions)
        if (to != which) set_route(*world_, which, to, {});
      settle(*world_);
      remove_replica(*world_, regions[0], which);
      members_.erase(member);
    }
  }

  void settle_copies(const std::string& which) {
    while (!in(*world_, which)->description()->copies_from.empty())
      world_->database().replication().copy_some(in(*world_, which), 16);
  }

  void change_index() {
    const bool has = !in(*world_, regions[0])->description()->indexes.empty();
    REQUIRE(
        world_->database().tables().update_together(in(*world_, regions[0]), [&](std::vector<Table>& tables) {
          for (Table& table : tables) {
            table.indexes.clear();
            if (!has) table.indexes.push_back(global_index("by_v", "v"));
          }
          return true;
        }));
  }

  void write(const std::string& where) {
    const auto table = in(*world_, where);
    const std::string id = std::to_string(random_() % 30);
    if (random_() % 4 == 0) {
      if (!world_->get(table, {{"id", id}})) return;  // there is no item to delete
      world_->remove(table, {{"id", id}});
      model_.erase(id);
    } else {
      model_[id] = std::to_string(++last_value_);
      world_->put(table, cart(id, model_[id]));
    }
  }

  void check() {
    std::vector<Item> expected;
    for (const auto& [id, value] : model_) expected.push_back(cart(id, value));
    for (const std::string& member : members_) {
      CAPTURE(member);
      CHECK(sorted(world_->all(in(*world_, member))) == sorted(expected));
    }
    // Writes in flight between dropped tables are not counted here. A snapshot may still contain such tables.
    for (const InFlight& flight : world_->database().replication().in_flight(account))
      CHECK(flight.writes == 0);
    const std::string wrong = world_->inconsistency(in(*world_, regions[0]));
    INFO(wrong);
    CHECK(wrong.empty());
  }

  std::mt19937_64 random_;
  const bool durable_;
  const TemporaryDirectory directory_;
  std::unique_ptr<World> world_;
  std::vector<std::string> members_;
  std::map<std::string, std::string> model_;
  std::map<SnapshotId, std::pair<std::map<std::string, std::string>, std::vector<std::string>>> snapshots_;
  int last_value_ = 0;
};

}  // namespace

TEST_CASE("the last write to an item reaches all regions whatever happens to the routes",
          "[replication][holds]") {
  const auto seed = GENERATE(range(1u, 31u));
  CAPTURE(seed);
  Story(seed, seed % 3 == 0).run(300);
}

TEST_CASE("with strong consistency a write takes effect in all regions in one batch", "[replication]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  replicate(world, carts, {"us-east-2", "us-west-2"}, /*strong=*/true);
  auto second = in(world, "us-east-2"), third = in(world, "us-west-2");
  world.put(carts, cart("a", "1"));
  CHECK(world.get(second, {{"id", "a"}}) == cart("a", "1"));
  world.put(third, cart("a", "2"));
  world.remove(second, {{"id", "a"}});
  for (const auto& table : {carts, second, third}) {
    CHECK(world.all(table).empty());
    CHECK(world.records(table->description()->stream->id).size() == 3);
  }
  CHECK(stored_keys_of_kind(world, 'W') == 0);
  REQUIRE(world.database().tables().update_together(second, [](std::vector<Table>& tables) {
    tables.resize(1);
    return true;
  }));
  CHECK(carts->description()->replicas.empty());
  CHECK_FALSE(carts->description()->strong);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("replication loses nothing during concurrent writes and table changes and restores",
          "[replication][holds]") {
  World world({.reap = true});
  auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  replicate(world, carts, {"eu-west-1", "ap-south-1"});
  const SnapshotId empty = world.database().snapshots().take(account);
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 3; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; !stop; ++i) {
        const auto request = world.database().accounts().of(account).begin_request();
        const auto table = in(world, regions[static_cast<std::size_t>(writer)]);
        if (!table) continue;
        Transaction transaction(world.database().write_path(), Cause::user);
        const Item item = cart(std::to_string(i % 20), std::to_string(writer) + "/" + std::to_string(i));
        const auto slot = transaction.add(table, key_of(*table->description(), item));
        if (!transaction.lock()) continue;  // a restore happened in between
        i % 5 == 0 ? transaction.remove(slot) : transaction.put(slot, item);
        transaction.commit();
        ++written;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      const auto request = world.database().accounts().of(account).begin_request();
      const auto table = in(world, regions[static_cast<std::size_t>(i % 2)]);
      if (!table) continue;
      static_cast<void>(world.database().tables().update_together(table, [&](std::vector<Table>& tables) {
        for (Table& each : tables) {
          each.indexes.clear();
          if (i % 2 == 0) each.indexes.push_back(global_index("by_v", "v"));
        }
        return true;
      }));
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      auto request = world.database().accounts().of(account).begin_request();
      const auto table = in(world, regions[0]);
      if (!table) continue;
      const bool there = in(world, regions[2]) != nullptr;
      if (there) world.database().replication().settle(world.database().accounts().of(account));
      static_cast<void>(world.database().tables().update_together(table, [&](std::vector<Table>& tables) {
        if (there) {
          // Like UpdateTable, does not remove a replica while its writes are in flight.
          const auto leaves = std::find_if(tables.begin(), tables.end(),
                                           [](const Table& each) { return each.region == regions[2]; });
          for (const Replica& other : leaves->replicas)
            if (world.database().replication().is_in_flight(leaves->id, other.table)) return false;
          tables.erase(leaves);
          return true;
        }
        if (tables.size() != 2) return false;
        Table copy = tables.front();
        copy.id = 0;
        copy.region = regions[2];
        copy.stream.reset();
        for (Index& index : copy.indexes) index.id = 0;
        tables.push_back(std::move(copy));
        return true;
      }));
      request.unlock();
      if (i % 5 == 4) static_cast<void>(world.database().snapshots().restore(account, empty));
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  while (std::chrono::steady_clock::now() < end) settle(world);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(written > 100);
  settle(world);
  const auto first = in(world, regions[0]);
  const std::vector<Item> items = sorted(world.all(first));
  const auto description = first->description();
  for (const Replica& replica : description->replicas)
    CHECK(sorted(world.all(in(world, replica.region))) == items);
  const std::string wrong = world.inconsistency(first);
  INFO(wrong);
  CHECK(wrong.empty());
}

}  // namespace mayfly::testing
