#include "engine/snapshots.h"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <map>
#include <thread>

#include "engine/expiry_view.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/parts.h"
#include "tests/support/engine_world.h"

using namespace mayfly::engine;
using namespace mayfly::engine::test;

namespace {

constexpr Instant hour_ms = 3600'000;
constexpr std::string_view other_account = "000000000042";

std::shared_ptr<LiveTable> make_carts(World& world, std::string_view owner = account) {
  Table description = simple_table("carts");
  description.account = owner;
  description.stream = stream_of(StreamView::new_and_old_images);
  description.indexes = {global_index("by_user", "user"), local_index("by_day", "day")};
  auto table = world.create(description);
  world.enable_ttl(table);
  return table;
}

Item cart(const std::string& id, std::int64_t in_seconds) {
  return {{"id", id}, {"user", "u"}, {"day", "mon"}, {"ttl", number(start_seconds + in_seconds)}};
}

std::vector<Sequence> sequences(World& world, const std::shared_ptr<LiveTable>& table) {
  std::vector<Sequence> result;
  for (const ChangeRecord& record : world.records(table->description()->stream->id)) result.push_back(record.sequence);
  return result;
}

// How many keys there are of each kind.
std::map<char, int> keys_by_kind(World& world) {
  std::map<char, int> count;
  Storage::Iterator iterator(world.database().parts().storage(), "", "\xff");
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) ++count[iterator.key()[0]];
  return count;
}

}  // namespace

TEST_CASE("a restore brings back items, indexes, pending expiries and the clock", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 20; ++i) world.put(carts, cart(std::to_string(i), 100 + i));
  const Table before = *carts->description();
  const SnapshotId id = world.database().take_snapshot(account);

  world.advance(start_ms + 48 * hour_ms);
  CHECK(world.all(carts).empty());
  world.put(carts, {{"id", "later"}});
  REQUIRE(world.database().drop_table(carts));
  world.create(simple_table("orders"));

  REQUIRE(world.database().restore_snapshot(account, id));
  CHECK(world.now() == start_ms);
  CHECK_FALSE(world.find("orders"));
  carts = world.find("carts");
  REQUIRE(carts);
  CHECK(carts->description()->uuid == before.uuid);
  CHECK(carts->description()->created == before.created);
  CHECK(carts->description()->stream->label == before.stream->label);
  CHECK(carts->counter(0).items == 20);
  CHECK(world.all(carts).size() == 20);
  CHECK(world.all(carts, 1).size() == 20);
  CHECK(world.get(carts, {{"id", "7"}}) == cart("7", 107));
  CHECK(world.inconsistency(carts).empty());
  CHECK(expiry_totals(world.database(), *carts).pending == 20);
  CHECK(world.advance(start_ms + 110'000) == 10);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a snapshot can be restored any number of times", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const SnapshotId id = world.database().take_snapshot(account);
  REQUIRE(world.database().restore_snapshot(account, id));
  const auto keys = keys_by_kind(world);
  for (int i = 0; i < 5; ++i) {
    world.put(world.find("carts"), {{"id", "b"}});
    world.advance(start_ms + hour_ms);
    REQUIRE(world.database().restore_snapshot(account, id));
    CHECK(world.all(world.find("carts")) == std::vector<Item>{cart("a", 100)});
  }
  // Nothing is left over of what was replaced: as many keys as after the first time, of every kind.
  auto keys_after = keys_by_kind(world);
  for (const char kind : {'I', 'X', 'N', 'S', 'T', 'R', 'W', 'Z', 'Y', 'V'})
    CHECK(keys_after[kind] == (keys.count(kind) ? keys.at(kind) : 0));
}

TEST_CASE("sequence numbers never come again, and what was recorded after a snapshot is undone", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, {{"id", "a"}});
  world.put(carts, {{"id", "b"}});
  const SnapshotId id = world.database().take_snapshot(account);
  const Sequence kept = world.database().published();
  world.put(carts, {{"id", "c"}});
  world.put(carts, {{"id", "d"}});
  const Sequence undone = world.database().published();
  REQUIRE(world.database().restore_snapshot(account, id));
  carts = world.find("carts");
  CHECK(sequences(world, carts) == std::vector<Sequence>{kept - 1, kept});
  world.put(carts, {{"id", "e"}});
  CHECK(sequences(world, carts) == std::vector<Sequence>{kept - 1, kept, undone + 1});

  const Stream stream = *world.database().find_stream({std::string(account), "us-east-1"}, "carts",
                                                      carts->description()->stream->label);
  CHECK_FALSE(stream.is_undone(kept));
  CHECK_FALSE(stream.is_undone(kept + 1));  // who had read all that there was
  CHECK(stream.is_undone(kept + 2));
  CHECK(stream.is_undone(undone));
  CHECK_FALSE(stream.is_undone(undone + 1));
}

TEST_CASE("other accounts notice nothing of a restore or a reset", "[snapshots]") {
  World world({.reap = true});
  auto mine = make_carts(world), theirs = make_carts(world, other_account);
  world.put(mine, cart("a", 100));
  world.put(theirs, cart("a", 100));
  const SnapshotId id = world.database().take_snapshot(account);
  std::atomic<bool> stop{false};
  std::int64_t written = 0;
  std::thread writer([&] {
    while (!stop) world.put(theirs, cart(std::to_string(written++ % 10), 1000));
  });
  for (int i = 0; i < 20; ++i) {
    REQUIRE(world.database().restore_snapshot(account, id));
    if (i == 10) world.database().reset(account);
    if (i == 10) break;
  }
  stop = true;
  writer.join();
  CHECK(world.database().list_tables({std::string(account), "us-east-1"}, "", 10).empty());
  CHECK(theirs->description()->name == "carts");
  CHECK_FALSE(theirs->dropped());
  CHECK(world.inconsistency(theirs).empty());
  CHECK_FALSE(world.database().restore_snapshot(other_account, id));
  CHECK(world.database().now(other_account) == start_ms);
}

TEST_CASE("a reset leaves nothing of an account", "[snapshots]") {
  World world;
  const auto keys = keys_by_kind(world);
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const SnapshotId id = world.database().take_snapshot(account);
  world.advance(start_ms + 1000);
  REQUIRE(world.database().drop_table(carts));  // its stream stays for a day
  make_carts(world);
  world.database().reset(account);
  CHECK(world.now() == start_ms);
  CHECK(world.database().clock_setting(account) == ClockSetting{});
  CHECK_FALSE(world.database().restore_snapshot(account, id));
  auto keys_after = keys_by_kind(world);
  keys_after.erase('M');  // numbers given so far
  auto keys_before = keys;
  keys_before.erase('M');
  CHECK(keys_after == keys_before);
}

TEST_CASE("a dropped snapshot is gone, with its keys", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const auto keys = keys_by_kind(world);
  const SnapshotId id = world.database().take_snapshot(account);
  CHECK(world.database().list_snapshots(account) == std::vector<SnapshotId>{id});
  CHECK_FALSE(world.database().drop_snapshot(other_account, id));
  CHECK(world.database().drop_snapshot(account, id));
  CHECK_FALSE(world.database().drop_snapshot(account, id));
  CHECK_FALSE(world.database().restore_snapshot(account, id));
  auto keys_after = keys_by_kind(world);
  keys_after['M'] = keys.at('M');
  CHECK(keys_after == keys);
  CHECK(world.database().take_snapshot(account) > id);
}

TEST_CASE("snapshots survive a restart", "[snapshots]") {
  const Directory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100));
  const SnapshotId id = world.database().take_snapshot(account);
  world.advance(start_ms + hour_ms);
  carts.reset();
  world.reopen();
  CHECK(world.all(world.find("carts")).empty());
  REQUIRE(world.database().restore_snapshot(account, id));
  carts = world.find("carts");
  CHECK(world.all(carts).size() == 10);
  CHECK(world.now() == start_ms);
  carts.reset();
  world.reopen();
  carts = world.find("carts");
  CHECK(world.all(carts).size() == 10);
  CHECK(world.now() == start_ms);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a restore that fails at any write leaves the old state or the new", "[snapshots][holds]") {
  const Directory directory;
  int writes_left = 1 << 20;
  World world({.directory = directory.path(), .reap = false, .write_fails = [&] { return --writes_left < 0; }});
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100));
  const SnapshotId id = world.database().take_snapshot(account);
  world.put(carts, cart("later", 200));
  bool restored = false;
  int failures = 0;
  for (int writes = 0; !restored; ++writes) {
    writes_left = writes;
    try {
      restored = world.database().restore_snapshot(account, id);
    } catch (const StorageFault&) {
      ++failures;
    }
    writes_left = 1 << 20;
    carts.reset();
    world.reopen();
    carts = world.find("carts");
    REQUIRE(carts);
    CHECK(world.all(carts).size() == (restored ? 10 : 11));
    CHECK(world.inconsistency(carts).empty());
    CHECK(keys_by_kind(world)['W'] == 0);
  }
  CHECK(failures > 3);
  // What the failed ones had copied is gone.
  CHECK(keys_by_kind(world)['I'] == 2 * 3 * 10);
}

TEST_CASE("what expires when is told without changing anything", "[expiry_view]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 30 + 10 * i));
  const auto upcoming = upcoming_expiries(world.database(), *carts, 3);
  REQUIRE(upcoming.size() == 3);
  CHECK(upcoming[0].key == Item{{"id", "0"}});
  CHECK(upcoming[0].due == start_ms + 30'001);
  CHECK(upcoming[0].fires == start_ms + 30'001);
  CHECK(upcoming[2].key == Item{{"id", "2"}});
  const auto windows = expiry_windows(world.database(), *carts, 10);
  REQUIRE(windows.size() == 3);
  CHECK(windows[0].name == "2024-05-01T00:00:00.000Z_2024-05-01T00:01:00.000Z");
  CHECK(windows[0].items == 3);
  CHECK(windows[1].items == 6);
  CHECK(windows[2].items == 1);
  ExpiryTotals totals = expiry_totals(world.database(), *carts);
  CHECK(totals.pending == 10);
  CHECK(totals.due == 0);
  CHECK(totals.next_due == start_ms + 30'001);
  world.clock().set(start_ms + 60'001);
  totals = expiry_totals(world.database(), *carts);
  CHECK(totals.due == 4);
  CHECK(totals.pending == 10);
}
