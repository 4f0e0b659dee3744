#include "engine/background/history.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "engine/background/history_size.h"
#include "engine/background/history_trimmer.h"
#include "engine/background/reaper.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/items/cursor.h"
#include "engine/items/fill.h"
#include "engine/items/history_cursor.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/time/expiry_index.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

using Items = std::map<std::string, Item>;  // by encoded key

Items rest_of(HistoryCursor cursor) {
  Items items;
  while (cursor.next()) items[std::string(cursor.key())] = cursor.item().item();
  return items;
}
Items items_at(World& world, const Point& point) { return rest_of({world.database().reader(), point}); }
Items items_at(World& world, const std::shared_ptr<LiveTable>& table, Instant at) {
  return rest_of({world.database().reader(), *table, at});
}
Items items_now(World& world, const std::shared_ptr<LiveTable>& table) {
  Items items;
  Cursor cursor(world.database().reader(), *table, {});
  while (cursor.next()) items[std::string(cursor.key())] = cursor.item().item();
  return items;
}

int keys_of(World& world, char kind) {
  int count = 0;
  const std::string begin(1, kind), end(1, static_cast<char>(kind + 1));
  Storage::Iterator iterator(world.database().storage(), begin, end);
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) ++count;
  return count;
}

Item numbered_cart(const std::string& id, std::int64_t n) { return {{"id", id}, {"n", number(n)}}; }

}  // namespace

TEST_CASE("a point in time shows its table as it was when the point was taken", "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.put(carts, numbered_cart("a", 1));
  world.put(carts, numbered_cart("b", 1));
  const auto point = world.database().history().take_point(carts);
  REQUIRE(point);
  CHECK(point->items == 2);
  CHECK(point->table.name == "carts");
  CHECK(keys_of(world, 'O') == 0);  // nothing was copied
  const Items then = items_now(world, carts);

  world.put(carts, numbered_cart("a", 2));
  world.put(carts, numbered_cart("a", 3));
  world.remove(carts, {{"id", "b"}});
  world.put(carts, numbered_cart("c", 1));
  CHECK(items_at(world, *point) == then);
  // One old version of each item is enough.
  CHECK(keys_of(world, 'O') == 3);
  CHECK(world.inconsistency(carts).empty());

  CHECK(world.database().history().find_point(point->id)->number == point->number);
  CHECK(world.database().history().drop_point(point->id));
  CHECK_FALSE(world.database().history().drop_point(point->id));
  CHECK_FALSE(world.database().history().find_point(point->id));
  CHECK(HistoryCursor(world.database().reader(), *point).gone());
  world.database().history_trimmer().trim();
  CHECK(keys_of(world, 'O') == 0);
  CHECK(world.database().history_size().footprint().versions == 0);
  world.put(carts, numbered_cart("a", 4));
  CHECK(keys_of(world, 'O') == 0);  // no point needs an old version
}

TEST_CASE("each instant since recovery was enabled shows the table as it was at the end of that instant",
          "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.put(carts, numbered_cart("a", 0));
  History& history = world.database().history();
  CHECK_FALSE(history.restorable(*carts));
  CHECK(HistoryCursor(world.database().reader(), *carts, world.now()).gone());
  world.advance(start_ms + 1000);
  REQUIRE(history.keep(carts, 35));
  std::vector<Items> states{items_now(world, carts)};
  for (int n = 1; n < 6; ++n) {
    world.advance(world.now() + 1000);
    world.put(carts, numbered_cart("a", 100 + n));
    world.put(carts, numbered_cart("a", n));  // the last write at an instant counts
    world.put(carts, numbered_cart("b" + std::to_string(n), n));
    if (n > 2) world.remove(carts, {{"id", "b" + std::to_string(n - 2)}});
    states.push_back(items_now(world, carts));
  }
  world.advance(world.now() + 500);
  CHECK(history.restorable(*carts)->earliest == start_ms + 1000);
  CHECK(history.restorable(*carts)->latest == world.now());
  for (int n = 0; n < 6; ++n) {
    INFO(n);
    CHECK(items_at(world, carts, start_ms + (1 + n) * 1000) == states[static_cast<std::size_t>(n)]);
    CHECK(items_at(world, carts, start_ms + (1 + n) * 1000 + 400) == states[static_cast<std::size_t>(n)]);
  }
  CHECK(HistoryCursor(world.database().reader(), *carts, start_ms + 999).gone());
  CHECK(world.inconsistency(carts).empty());

  // Switching recovery off and on again starts a new history.
  history.forget(carts);
  CHECK_FALSE(history.restorable(*carts));
  history.keep(carts, 1);
  CHECK(history.restorable(*carts)->earliest == world.now());
  CHECK(HistoryCursor(world.database().reader(), *carts, world.now() - 1).gone());
  CHECK(items_at(world, carts, world.now()) == states.back());
  world.database().history_trimmer().trim();
  CHECK(keys_of(world, 'O') == 0);
}

TEST_CASE("no past state shows an item that was due by then however late the reaper deleted it",
          "[history][holds]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  History& history = world.database().history();
  history.keep(carts, 35);
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  world.put(carts, {{"id", "b"}, {"ttl", number(start_seconds + 20)}});
  world.clock().set(start_ms + 15'000);  // no reaper runs
  const auto point = history.take_point(carts);
  REQUIRE(point);
  CHECK(items_at(world, *point).size() == 1);
  CHECK(items_at(world, carts, start_ms + 10'000).size() == 2);
  CHECK(items_at(world, carts, start_ms + 10'001).size() == 1);
  world.clock().set(start_ms + 30'000);
  world.database().reaper().reap_due();
  CHECK(items_at(world, carts, start_ms + 10'000).size() == 2);
  CHECK(items_at(world, carts, start_ms + 10'001).size() == 1);
  CHECK(items_at(world, carts, start_ms + 20'001).empty());
  CHECK(items_at(world, *point).size() == 1);
  // No item had expired before TTL was switched on.
  const auto logs = world.create(simple_table("logs"));
  history.keep(logs, 35);
  world.put(logs, {{"id", "a"}, {"ttl", number(start_seconds + 10)}});
  world.advance(start_ms + 40'000);
  world.enable_ttl(logs);
  CHECK(items_now(world, logs).empty());
  CHECK(items_at(world, logs, start_ms + 39'999).size() == 1);
  CHECK(items_at(world, logs, start_ms + 40'000).empty());
}

TEST_CASE("changes between two instants include each item's images and its last write time", "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.enable_ttl(carts);
  History& history = world.database().history();
  history.keep(carts, 35);
  for (const char* id : {"same", "changed", "gone", "back"}) world.put(carts, numbered_cart(id, 0));
  world.put(carts, {{"id", "due"}, {"ttl", number(start_seconds + 90)}});
  const Instant from = start_ms + minute_ms;
  world.advance(from);
  world.put(carts, numbered_cart("early", 0));
  world.advance(from + 1000);
  world.put(carts, numbered_cart("changed", 1));
  world.put(carts, numbered_cart("back", 1));
  world.put(carts, numbered_cart("came and went", 1));
  world.advance(from + 2000);
  world.put(carts, numbered_cart("changed", 2));
  world.put(carts, numbered_cart("back", 0));
  world.remove(carts, {{"id", "gone"}});
  world.remove(carts, {{"id", "came and went"}});
  world.put(carts, numbered_cart("new", 7));
  const Instant to = from + minute_ms;
  world.clock().set(to);  // no reaper runs
  world.clock().set(to + 5000);
  world.put(carts, numbered_cart("same", 1));  // written after the range

  struct Change {
    std::optional<Item> old_image, new_image;
    Instant written;
  };
  std::map<std::string, Change> changes;
  HistoryChanges walk(world.database().reader(), *carts, from, to);
  while (walk.next()) {
    const StoredItem *old_image = walk.old_image(), *new_image = walk.new_image();
    changes[std::string(walk.key())] = {old_image ? std::optional(old_image->item()) : std::nullopt,
                                        new_image ? std::optional(new_image->item()) : std::nullopt,
                                        walk.written()};
  }
  const auto change = [&](const std::string& id) {
    const auto found = changes.find(key_of(*carts->description(), {{"id", id}}));
    if (found == changes.end()) FAIL("no change of " + id);
    return found->second;
  };
  CHECK(changes.size() == 6);
  CHECK(change("changed").old_image == numbered_cart("changed", 0));
  CHECK(change("changed").new_image == numbered_cart("changed", 2));
  CHECK(change("changed").written == from + 2000);
  CHECK(change("back").old_image == numbered_cart("back", 0));
  CHECK(change("back").new_image == numbered_cart("back", 0));
  CHECK(change("gone").old_image == numbered_cart("gone", 0));
  CHECK_FALSE(change("gone").new_image);
  CHECK_FALSE(change("new").old_image);
  CHECK(change("new").new_image == numbered_cart("new", 7));
  CHECK_FALSE(change("came and went").old_image);
  CHECK_FALSE(change("came and went").new_image);
  CHECK(change("due").old_image);
  CHECK_FALSE(change("due").new_image);
  CHECK(change("due").written == start_ms + 90'001);
  // The reaper's later deletion is not a change.
  world.database().reaper().reap_due();
  HistoryChanges later(world.database().reader(), *carts, to, world.now());
  std::set<std::string> keys;
  while (later.next()) keys.emplace(later.key());
  CHECK(keys == std::set<std::string>{key_of(*carts->description(), {{"id", "same"}})});
  CHECK(HistoryChanges(world.database().reader(), *carts, start_ms - 1, to).gone());
}

TEST_CASE("points in time outlive their table and dropping the last point erases the table's data",
          "[history]") {
  const TemporaryDirectory directory;
  const bool durable = GENERATE(false, true);
  World world({.directory = durable ? directory.path() : "", .reap = false});
  History& history = world.database().history();
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  auto carts = world.create(description);
  world.enable_ttl(carts);
  for (int n = 0; n < 5; ++n)
    world.put(carts, {{"id", std::to_string(n)}, {"user", "u"}, {"ttl", number(start_seconds + 1000)}});
  const auto early = history.take_point(carts);
  REQUIRE(early);
  const Items at_early = items_now(world, carts);
  world.put(carts, numbered_cart("0", 1));
  world.remove(carts, {{"id", "1"}});
  world.put(carts, numbered_cart("later", 1));
  const Items at_end = items_now(world, carts);
  std::optional<Point> last;
  REQUIRE(world.database().tables().drop(carts, &last));
  REQUIRE(last);
  CHECK(last->items == 5);
  CHECK_FALSE(world.database().tables().drop(carts, &last));
  CHECK(history.take_point(carts).error() == PointRefusal::dropped);
  CHECK_FALSE(world.find("carts"));
  CHECK(keys_of(world, 'X') == 0);
  const auto again = world.create(simple_table("carts"));  // another table with the same name
  world.put(again, numbered_cart("0", 5));
  CHECK(items_at(world, *early) == at_early);
  CHECK(items_at(world, *last) == at_end);
  CHECK(world.database().history().points(account).size() == 2);
  if (durable) {
    world.reopen();
    CHECK(items_at(world, *early) == at_early);
    CHECK(items_at(world, *last) == at_end);
    CHECK(testing::inconsistency(world.database()).empty());
  }
  History& now = world.database().history();
  world.advance(start_ms + 5'000'000);
  CHECK(items_at(world, *early) == at_early);  // moving the clock does not change a point
  CHECK(now.drop_point(early->id));
  world.database().history_trimmer().trim();
  CHECK(keys_of(world, 'O') == 0);
  CHECK(items_at(world, *last) == at_end);
  CHECK(testing::inconsistency(world.database()).empty());
  CHECK(now.drop_point(last->id));
  CHECK(keys_of(world, 'I') == 1);
  CHECK(keys_of(world, 'P') == 0);
  CHECK(testing::inconsistency(world.database()).empty());
  const auto next = now.take_point(world.find("carts"));
  REQUIRE(next);
  CHECK(next->id > last->id);
}

TEST_CASE("dropping a table without points in time erases the old versions of its items", "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.database().history().keep(carts, 35);
  for (int n = 0; n < 5; ++n) world.put(carts, numbered_cart("a", n));
  CHECK(keys_of(world, 'O') == 5);
  REQUIRE(world.database().tables().drop(carts));
  CHECK(keys_of(world, 'O') == 0);
  CHECK(keys_of(world, 'I') == 0);
  CHECK(world.database().history_size().footprint().bytes == 0);
}

TEST_CASE("versions older than the recovery period are erased unless a point in time needs them",
          "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  History& history = world.database().history();
  HistoryTrimmer& trimmer = world.database().history_trimmer();
  history.keep(carts, 2);
  std::map<Instant, Items> states;
  std::optional<Point> point;
  for (int hour = 0; hour < 24 * 7; ++hour) {
    world.advance(world.now() + 3600'000);
    world.put(carts, numbered_cart("hot", hour));
    world.put(carts, numbered_cart("k" + std::to_string(hour % 30), hour));
    if (hour == 10) point = *history.take_point(carts);
    states[world.now()] = items_now(world, carts);
    trimmer.trim();
  }
  const auto restorable = history.restorable(*carts);
  CHECK(restorable->earliest == world.now() - 2 * day_ms);
  for (const auto& [at, items] : states)
    if (at >= restorable->earliest) CHECK(items_at(world, carts, at) == items);
  CHECK(items_at(world, *point) == states[point->at]);
  // At two writes an hour, the old versions of a little more than two days remain. One version of each item
  // also remains for the point.
  CHECK(keys_of(world, 'O') < 2 * (48 + 3) + 31);
  CHECK(world.inconsistency(carts).empty());
  // A shorter period takes effect immediately. A longer period does not bring back erased versions.
  history.keep(carts, 1);
  CHECK(history.restorable(*carts)->earliest == world.now() - day_ms);
  trimmer.trim();
  history.keep(carts, 35);
  CHECK(history.restorable(*carts)->earliest == world.now() - day_ms);
  CHECK(HistoryCursor(world.database().reader(), *carts, world.now() - day_ms - 1).gone());
  CHECK(items_at(world, *point) == states[point->at]);
}

TEST_CASE("a history over its size limit drops its oldest instants but no version that a point in time needs",
          "[history]") {
  World world({.reap = false, .history_bytes_max = 200'000});
  const auto carts = world.create(simple_table("carts"));
  History& history = world.database().history();
  HistoryTrimmer& trimmer = world.database().history_trimmer();
  for (int n = 0; n < 50; ++n)
    world.put(carts, {{"id", std::to_string(n)}, {"text", std::string(1000, 'x')}});
  history.keep(carts, 35);
  const auto point = history.take_point(carts);
  REQUIRE(point);
  const Items at_point = items_now(world, carts);
  std::map<Instant, Items> states;
  for (int n = 0; n < 1000; ++n) {
    world.advance(world.now() + 60'000);
    world.put(carts, {{"id", std::to_string(n % 60)}, {"text", std::string(1000, 'y')}, {"n", number(n)}});
    states[world.now()] = items_now(world, carts);
    trimmer.trim();
    REQUIRE(world.database().history_size().footprint().bytes <= 205'000);
  }
  const Instant earliest = history.restorable(*carts)->earliest;
  CHECK(earliest > start_ms);
  CHECK(earliest < world.now() - 80 * minute_ms);  // about a hundred versions fit
  for (const auto& [at, items] : states)
    if (at >= earliest) CHECK(items_at(world, carts, at) == items);
  CHECK(items_at(world, *point) == at_point);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("no point in time is taken while the existing points alone exceed the size limit", "[history]") {
  World world({.reap = false, .history_bytes_max = 20'000});
  const auto carts = world.create(simple_table("carts"));
  History& history = world.database().history();
  HistoryTrimmer& trimmer = world.database().history_trimmer();
  const auto put_all = [&](int n) {
    for (int i = 0; i < 30; ++i)
      world.put(carts, {{"id", std::to_string(i)}, {"text", std::string(1000, 'x')}, {"n", number(n)}});
  };
  put_all(0);
  const auto point = history.take_point(carts);
  REQUIRE(point);
  put_all(1);
  trimmer.trim();
  CHECK(history.take_point(carts).error() == PointRefusal::no_room);
  CHECK(items_at(world, *point).size() == 30);
  CHECK(history.drop_point(point->id));
  trimmer.trim();
  CHECK(history.take_point(carts));
}

TEST_CASE("a fill copies a past state into a table and creates the table's index entries", "[history]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  for (int n = 0; n < 1000; ++n)
    world.put(carts, {{"id", std::to_string(n)}, {"user", "u" + std::to_string(n % 7)}});
  const auto point = world.database().history().take_point(carts);
  REQUIRE(point);
  for (int n = 0; n < 500; ++n) world.remove(carts, {{"id", std::to_string(n)}});
  Table description = simple_table("restored");
  description.indexes = {global_index("by_user", "user")};
  const auto restored = world.create(description);
  HistoryCursor then(world.database().reader(), *point);
  std::vector<std::int64_t> told;
  const auto filled = fill(world.database().write_path(), then, restored, {},
                           [&](const Filled& so_far) { told.push_back(so_far.items); });
  REQUIRE(filled);
  CHECK(filled->items == 1000);
  CHECK(filled->bytes == restored->counter(0).bytes);
  CHECK(told.size() > 1);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(items_now(world, restored) == items_at(world, *point));
  CHECK(world.all(restored, 1).size() == 1000);
  CHECK(world.inconsistency(restored).empty());
  // A second fill writes the same items again.
  HistoryCursor again(world.database().reader(), *point);
  CHECK(fill(world.database().write_path(), again, restored, {})->items == 1000);
  CHECK(world.inconsistency(restored).empty());

  std::stop_source stop;
  stop.request_stop();
  HistoryCursor stopped(world.database().reader(), *point);
  CHECK(fill(world.database().write_path(), stopped, restored, stop.get_token()).error() ==
        FillRefusal::stopped);
  REQUIRE(world.database().tables().drop(restored));
  HistoryCursor dropped(world.database().reader(), *point);
  CHECK(fill(world.database().write_path(), dropped, restored, {}).error() == FillRefusal::dropped);
  world.database().history().drop_point(point->id);
  HistoryCursor gone(world.database().reader(), *point);
  CHECK(fill(world.database().write_path(), gone, restored, {}).error() == FillRefusal::gone);
}

// The expected state of a table, now and at each past instant.
class Model {
 public:
  void put(const std::string& key, Item item) { now_[key] = std::move(item); }
  void remove(const std::string& key) { now_.erase(key); }
  void expire(const Table& table, Instant now) {
    std::erase_if(now_, [&](const auto& item) { return is_due(table, item.second, now); });
  }
  void note(Instant now) { states_[now] = now_; }
  [[nodiscard]] const Items& now() const { return now_; }
  [[nodiscard]] Items at(const Table& table, Instant instant) const {
    Items items = std::prev(states_.upper_bound(instant))->second;
    std::erase_if(items, [&](const auto& item) { return is_due(table, item.second, instant); });
    return items;
  }

 private:
  static bool is_due(const Table& table, const Item& item, Instant now) {
    const auto due = due_of(table, item);
    return due && *due <= now;
  }
  Items now_;
  std::map<Instant, Items> states_;
};

TEST_CASE("every instant and every point in time shows the table's state at that time", "[history][holds]") {
  const auto seed = GENERATE(range(1u, 31u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
  const TemporaryDirectory directory;
  const bool durable = seed % 3 == 0;
  World world({.directory = durable ? directory.path() : "", .reap = false});
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  if (seed % 2 == 0) description.stream = stream_of(StreamView::new_and_old_images);
  auto carts = world.create(description);
  world.enable_ttl(carts);
  REQUIRE(world.database().time_travel().set(account, {ClockSetting::Mode::frozen}, start_ms));

  struct Kept {
    Point point;
    Items items;
    bool is_of_this;
  };
  struct Saved {
    SnapshotId id;
    Model model;
    std::map<PointId, Kept> points;
  };
  Model model;
  std::map<PointId, Kept> points;
  std::vector<Saved> snapshots;
  const auto history = [&]() -> History& { return world.database().history(); };
  const auto random_item = [&] {
    Item item{{"id", "k" + std::to_string(random() % 12)}, {"n", number(random() % 100)}};
    if (chance(2)) item.set("user", AttributeValue("u" + std::to_string(random() % 3)));
    if (chance(3)) item.set("ttl", number(world.now() / 1000 + random() % 30));
    return item;
  };
  const auto check = [&] {
    const auto now = carts->description();
    CHECK(items_now(world, carts) == model.now());
    for (const auto& [id, kept] : points) {
      INFO("point " << id);
      CHECK(items_at(world, kept.point) == kept.items);
    }
    if (const auto restorable = history().restorable(*carts)) {
      for (int n = 0; n < 4; ++n) {
        const Instant at =
            restorable->earliest +
            static_cast<Instant>(random() % static_cast<unsigned>(std::min<Instant>(
                                                restorable->latest - restorable->earliest + 1, 100'000'000)));
        INFO("at " << at - start_ms << " of " << restorable->earliest - start_ms);
        CHECK(items_at(world, carts, at) == model.at(*now, at));
      }
    }
    CHECK(world.inconsistency(carts) == "");
  };
  for (int step = 0; step < 400; ++step) {
    INFO("step " << step);
    switch (random() % 20) {
      case 0: history().keep(carts, 1 + random() % 3); break;
      case 1:
        if (chance(3)) history().forget(carts);
        break;
      case 2: {
        const auto restorable = history().restorable(*carts);
        if (restorable && chance(2)) {
          const Instant at = chance(3)
                                 ? restorable->latest
                                 : restorable->earliest + static_cast<Instant>(random()) %
                                                              (restorable->latest - restorable->earliest + 1);
          const auto held = history().hold_instant(carts, at);
          REQUIRE(held);
          points[held->id] = {*held, model.at(*carts->description(), at), true};
          break;
        }
        const auto point = history().take_point(carts);
        REQUIRE(point);
        points[point->id] = {*point, model.now(), true};
        if (!chance(3)) break;
        const auto other = history().hold_point(points.begin()->first);
        REQUIRE(other);
        points[other->id] = {*other, points.begin()->second.items, points.begin()->second.is_of_this};
        break;
      }
      case 3:
        if (points.empty()) break;
        CHECK(history().drop_point(points.begin()->first));
        points.erase(points.begin());
        break;
      case 4:
        world.advance(world.now() + random() % 40'000);
        model.expire(*carts->description(), world.now());
        break;
      case 5:
        world.advance(world.now() + random() % (chance(4) ? day_ms : 1000));
        model.expire(*carts->description(), world.now());
        break;
      case 6: world.database().history_trimmer().trim(); break;
      case 7:
        if (!durable || !chance(3)) break;
        world.reopen();
        carts = world.find("carts");
        break;
      case 8:
        if (snapshots.size() < 3)
          snapshots.push_back({world.database().snapshots().take(account), model, points});
        break;
      case 9: {
        if (snapshots.empty() || !chance(2)) break;
        Saved& saved = snapshots[random() % snapshots.size()];
        if (chance(3)) {
          REQUIRE(world.database().snapshots().drop(account, saved.id));
          snapshots.erase(snapshots.begin() + (&saved - snapshots.data()));
          break;
        }
        REQUIRE(world.database().snapshots().restore(account, saved.id));
        model = saved.model;
        points = saved.points;
        carts = world.find("carts");
        break;
      }
      case 10: {
        // A new table takes the dropped table's name. Restoring a snapshot may bring back the dropped table.
        if (!chance(6)) break;
        std::optional<Point> last;
        REQUIRE(world.database().tables().drop(carts, chance(2) ? &last : nullptr));
        if (last) points[last->id] = {*last, model.now(), false};
        carts = world.create(description);
        world.enable_ttl(carts);
        model = Model();
        break;
      }
      case 11:
      case 12: {
        Transaction transaction(world.database().write_path(), Cause::user);
        std::map<std::string, Item> items;
        for (int n = 0; n < 5; ++n) {
          Item item = random_item();
          items[key_of(*carts->description(), item)] = std::move(item);
        }
        for (const auto& [key, item] : items) transaction.add(carts, key);
        REQUIRE(transaction.lock());
        std::size_t slot = 0;
        for (const auto& [key, item] : items) {
          const bool removes = chance(3);
          removes ? transaction.remove(slot) : transaction.put(slot, item);
          removes ? model.remove(key) : model.put(key, item);
          ++slot;
        }
        transaction.commit();
        break;
      }
      default: {
        const Item item = random_item();
        const std::string key = key_of(*carts->description(), item);
        if (chance(3)) {
          world.remove(carts, {{"id", *item.find("id")}});
          model.remove(key);
        } else {
          world.put(carts, item);
          model.put(key, item);
        }
      }
    }
    model.expire(*carts->description(), world.now());
    model.note(world.now());
    if (step % 5 == 0) check();
  }
  check();
  world.database().snapshots().reset(account);
  for (const char kind : {'I', 'O', 'P', 'N', 'X', 'L'}) CHECK(keys_of(world, kind) == 0);
}

TEST_CASE("a failed write leaves no partial point in time and no partial history", "[history]") {
  const auto step = [](World& world, const std::shared_ptr<LiveTable>& carts, int n) {
    History& history = world.database().history();
    switch (n) {
      case 0: history.keep(carts, 35); break;
      case 1: world.put(carts, numbered_cart("a", 2)); break;
      case 2: static_cast<void>(history.take_point(carts)); break;
      case 3: world.remove(carts, {{"id", "a"}}); break;
      case 4: history.forget(carts); break;
      case 5: world.database().history_trimmer().trim(); break;
      case 6: history.drop_point(1); break;
      case 7: world.database().history_trimmer().trim(); break;
      case 8: static_cast<void>(history.take_point(carts)); break;
      case 9: {
        std::optional<Point> last;
        world.database().tables().drop(carts, &last);
        break;
      }
      case 10: history.drop_point(2); break;
      case 11: history.drop_point(3); break;
      default: break;
    }
  };
  for (int fails = 0; fails < 12; ++fails) {
    INFO("the write of step " << fails << " fails");
    const TemporaryDirectory directory;
    const auto failing = std::make_shared<bool>(false);
    World world({.directory = directory.path(), .reap = false, .write_fails = [=] { return *failing; }});
    auto carts = world.create(simple_table("carts"));
    world.put(carts, numbered_cart("a", 1));
    for (int n = 0; n < 12; ++n) {
      if (n == fails) {
        *failing = true;
        try {
          step(world, carts, n);
        } catch (const StorageFault&) {}
        *failing = false;
        CHECK(world.inconsistency(carts).empty());
        world.reopen();
        CHECK(testing::inconsistency(world.database()).empty());
        if (const auto found = world.find("carts")) carts = found;
      }
      step(world, carts, n);
      CHECK(testing::inconsistency(world.database()).empty());
    }
    CHECK(world.database().history().points(account).empty());
    for (const char kind : {'I', 'O', 'P', 'N', 'X'}) CHECK(keys_of(world, kind) == 0);
  }
}

TEST_CASE("a table stays consistent while points in time are taken and recovery is switched during writes",
          "[history]") {
  World world({.reap = true});
  const auto carts = world.create(simple_table("carts"));
  for (int n = 0; n < 50; ++n) world.put(carts, numbered_cart("k" + std::to_string(n), 0));
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  const auto until_stopped = [&](auto work) {
    return std::thread([&stop, work] {
      for (int n = 0; !stop; ++n) work(n);
    });
  };
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.push_back(until_stopped([&, writer](int n) {
      // Between any two commits, all of this writer's items have the same number.
      Transaction transaction(world.database().write_path(), Cause::user);
      const Table description = *carts->description();
      for (int k = writer; k < 50; k += 2)
        transaction.add(carts, key_of(description, {{"id", "k" + std::to_string(k)}}));
      if (!transaction.lock()) return;
      for (std::size_t slot = 0; slot < 25; ++slot)
        transaction.put(slot, numbered_cart("k" + std::to_string(writer + 2 * static_cast<int>(slot)), n));
      transaction.commit();
    }));
  }
  const auto is_whole = [&](const Items& items) {
    std::map<bool, std::set<std::string>> numbers;
    for (const auto& [key, item] : items) {
      const std::string& id = *item.find("id")->get_if<std::string>();
      numbers[std::stoi(id.substr(1)) % 2 == 0].insert(item.find("n")->get_if<Number>()->to_string());
    }
    return items.size() == 50 && numbers[false].size() == 1 && numbers[true].size() == 1;
  };
  std::atomic<int> wrong{0};
  for (int reader = 0; reader < 2; ++reader) {
    threads.push_back(until_stopped([&](int) {
      const auto point = world.database().history().take_point(carts);
      if (!point) return;
      const Items first = items_at(world, *point);
      if (!is_whole(first)) ++wrong;
      if (items_at(world, *point) != first) ++wrong;
      HistoryCursor held(world.database().reader(), *point);
      if (!world.database().history().drop_point(point->id)) ++wrong;
      if (rest_of(std::move(held)) != first) ++wrong;  // dropping the point does not affect an open cursor
      ++rounds;
    }));
  }
  threads.push_back(until_stopped([&](int n) {
    n % 2 == 0 ? static_cast<void>(world.database().history().keep(carts, 1))
               : world.database().history().forget(carts);
    world.database().history_trimmer().trim();
  }));
  while (rounds < 60 && wrong == 0) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  world.database().history().forget(carts);
  world.database().history_trimmer().trim();
  CHECK(keys_of(world, 'O') == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a point in time that is taken while its table is dropped is complete or does not exist",
          "[history]") {
  for (int round = 0; round < 30; ++round) {
    World world;
    const auto carts = world.create(simple_table("carts"));
    for (int n = 0; n < 20; ++n) world.put(carts, numbered_cart(std::to_string(n), n));
    std::optional<Point> last, taken;
    std::thread dropper([&] { world.database().tables().drop(carts, &last); });
    if (auto point = world.database().history().take_point(carts)) taken = *point;
    dropper.join();
    REQUIRE(last);
    CHECK(items_at(world, *last).size() == 20);
    if (taken) CHECK(items_at(world, *taken).size() == 20);
    CHECK(testing::inconsistency(world.database()).empty());
    std::thread other([&] { world.database().history().drop_point(last->id); });
    if (taken) world.database().history().drop_point(taken->id);
    other.join();
    CHECK(keys_of(world, 'I') == 0);
    CHECK(keys_of(world, 'P') == 0);
  }
}

TEST_CASE("commit numbers continue after a restart even without stream records", "[history]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = world.create(simple_table("carts"));
  world.database().history().keep(carts, 35);
  for (int n = 0; n < 5; ++n) world.put(carts, numbered_cart("a", n));
  const Sequence before = world.database().watermark().published();
  CHECK(before >= 5);
  world.reopen();
  CHECK(world.database().watermark().published() == before);
  carts = world.find("carts");
  const auto point = world.database().history().take_point(carts);
  REQUIRE(point);
  world.put(carts, numbered_cart("a", 5));
  CHECK(world.database().watermark().published() > before);
  CHECK(items_at(world, *point).begin()->second == numbered_cart("a", 4));
}

}  // namespace mayfly::testing
