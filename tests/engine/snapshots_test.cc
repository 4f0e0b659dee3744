#include "engine/background/snapshots.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "engine/background/index_backfill.h"
#include "engine/background/snapshot_heads.h"
#include "engine/database.h"
#include "engine/items/expiry_view.h"
#include "engine/items/item_reader.h"
#include "engine/storage/before_images.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

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
  for (const ChangeRecord& record : world.records(table->description()->stream->id))
    result.push_back(record.sequence);
  return result;
}

// The number of keys of each kind.
std::map<char, int> keys_by_kind(World& world) {
  std::map<char, int> count;
  // An in-memory database keeps images outside of storage.
  for (ImageLog log = 1; log < 200; ++log)
    world.database().before_images().each(log, [&](std::string_view, const auto&) { ++count['B']; });
  Storage::Iterator iterator(world.database().storage(), "", "\xff");
  for (iterator.seek_to_first(); iterator.valid(); iterator.next())
    if (iterator.key()[0] != 'B') ++count[iterator.key()[0]];
  return count;
}

}  // namespace

TEST_CASE("a table can be restored and removed repeatedly by restoring an earlier and a later snapshot",
          "[snapshots]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  world.put(carts, {{"id", "a"}, {"v", "1"}});
  const SnapshotId with = world.database().snapshots().take(account);
  world.database().tables().drop(carts);
  const SnapshotId without = world.database().snapshots().take(account);
  REQUIRE(world.database().snapshots().restore(account, with));
  world.put(world.find("carts"), {{"id", "a"}, {"v", "2"}});
  world.put(world.find("carts"), {{"id", "b"}, {"v", "1"}});
  REQUIRE(world.database().snapshots().restore(account, without));
  CHECK_FALSE(world.find("carts"));
  REQUIRE(world.database().snapshots().restore(account, with));
  CHECK(world.all(world.find("carts")) == std::vector<Item>{{{"id", "a"}, {"v", "1"}}});
  CHECK(world.inconsistency(world.find("carts")).empty());
}

TEST_CASE("a restore brings back items and indexes and pending expiries and the clock", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 20; ++i) world.put(carts, cart(std::to_string(i), 100 + i));
  const Table before = *carts->description();
  const SnapshotId id = world.database().snapshots().take(account);

  world.advance(start_ms + 48 * hour_ms);
  CHECK(world.all(carts).empty());
  world.put(carts, {{"id", "later"}});
  REQUIRE(world.database().tables().drop(carts));
  world.create(simple_table("orders"));

  REQUIRE(world.database().snapshots().restore(account, id));
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
  CHECK(world.database().expiries().totals(*carts).pending == 20);
  CHECK(world.advance(start_ms + 110'000) == 10);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a snapshot can be restored any number of times", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const SnapshotId id = world.database().snapshots().take(account);
  REQUIRE(world.database().snapshots().restore(account, id));
  const auto keys = keys_by_kind(world);
  for (int i = 0; i < 5; ++i) {
    world.put(world.find("carts"), {{"id", "b"}});
    world.advance(start_ms + hour_ms);
    REQUIRE(world.database().snapshots().restore(account, id));
    CHECK(world.all(world.find("carts")) == std::vector<Item>{cart("a", 100)});
  }
  // Nothing is left of the replaced states: each kind has as many keys as after the first restore.
  auto keys_after = keys_by_kind(world);
  for (const char kind : {'I', 'X', 'N', 'S', 'T', 'R', 'G', 'H', 'J', 'K', 'E', 'B'})
    CHECK(keys_after[kind] == (keys.count(kind) ? keys.at(kind) : 0));
}

TEST_CASE("restoring an earlier snapshot brings back a table that a later one lacks", "[snapshots]") {
  // Restoring the later snapshot used to discard the images of the table.
  World world;
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const SnapshotId first = world.database().snapshots().take(account);
  REQUIRE(world.database().tables().drop(carts));
  const SnapshotId latest = world.database().snapshots().take(account);
  REQUIRE(world.database().snapshots().restore(account, first));
  world.put(world.find("carts"), {{"id", "b"}});
  world.remove(world.find("carts"), {{"id", "a"}});
  REQUIRE(world.database().snapshots().restore(account, latest));
  CHECK_FALSE(world.find("carts"));
  REQUIRE(world.database().snapshots().restore(account, first));
  carts = world.find("carts");
  CHECK(world.all(carts) == std::vector<Item>{cart("a", 100)});
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a restore undoes the records after its snapshot and never reuses their sequence numbers",
          "[snapshots][holds]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, {{"id", "a"}});
  world.put(carts, {{"id", "b"}});
  const SnapshotId id = world.database().snapshots().take(account);
  const Sequence kept = world.database().watermark().published();
  world.put(carts, {{"id", "c"}});
  world.put(carts, {{"id", "d"}});
  const Sequence undone = world.database().watermark().published();
  REQUIRE(world.database().snapshots().restore(account, id));
  carts = world.find("carts");
  CHECK(sequences(world, carts) == std::vector<Sequence>{kept - 1, kept});
  world.put(carts, {{"id", "e"}});
  CHECK(sequences(world, carts) == std::vector<Sequence>{kept - 1, kept, undone + 1});

  const Stream stream = *world.database().catalog().find_stream({std::string(account), "us-east-1"}, "carts",
                                                                carts->description()->stream->label);
  CHECK_FALSE(stream.is_undone(kept));
  CHECK(stream.is_undone(kept + 1));
  CHECK(stream.is_undone(undone));
  CHECK_FALSE(stream.is_undone(undone + 1));
  CHECK_FALSE(stream.has_lost(kept + 1, 0));  // the reader had read only what remains
  CHECK(stream.has_lost(kept + 2, 0));
  CHECK(stream.has_lost(undone + 1, 0));  // the reader had read everything that was undone
  CHECK_FALSE(stream.has_lost(undone + 2, stream.last_restore()));
}

TEST_CASE("a reader loses its position only if a restore undoes records before that position",
          "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  const auto put = [&](const std::string& id) { world.put(world.find("carts"), {{"id", id}}); };
  const auto stream = [&] { return *world.find("carts")->description()->stream; };
  put("a");
  const SnapshotId first = world.database().snapshots().take(account);
  const Sequence kept = world.database().watermark().published();
  put("b");
  put("c");  // a reader has read up to this record
  const Sequence stood = world.database().watermark().published() + 1;
  for (int round = 0; round < 5; ++round) {
    REQUIRE(world.database().snapshots().restore(account, first));
    CHECK(stream().has_lost(stood, 0));
    CHECK_FALSE(stream().has_lost(kept + 1, 0));
    // A reader at the latest position keeps that position through a restore that undoes no records.
    const Sequence latest = world.database().watermark().published() + 1;
    const std::uint32_t seen = stream().last_restore();
    REQUIRE(world.database().snapshots().restore(account, first));
    CHECK_FALSE(stream().has_lost(latest, seen));
    put("of round " + std::to_string(round));
  }
  // Records that only the later snapshot has are lost exactly while the earlier snapshot's state is current.
  const SnapshotId second = world.database().snapshots().take(account);
  const Sequence after = world.database().watermark().published() + 1;
  const std::uint32_t seen = stream().last_restore();
  REQUIRE(world.database().snapshots().restore(account, first));
  CHECK(stream().has_lost(after, seen));
  CHECK(stream().is_undone(after - 1));
  REQUIRE(world.database().snapshots().restore(account, second));
  CHECK_FALSE(stream().has_lost(after, seen));
  CHECK_FALSE(stream().is_undone(after - 1));
  CHECK(stream().has_lost(stood, 0));
  CHECK(world.records(stream().id).size() == 2);
}

TEST_CASE("a restore or a reset does not affect other accounts", "[snapshots]") {
  World world({.reap = true});
  auto mine = make_carts(world), theirs = make_carts(world, other_account);
  world.put(mine, cart("a", 100));
  world.put(theirs, cart("a", 100));
  const SnapshotId id = world.database().snapshots().take(account);
  std::atomic<bool> stop{false};
  std::int64_t written = 0;
  std::thread writer([&] {
    while (!stop) world.put(theirs, cart(std::to_string(written++ % 10), 1000));
  });
  for (int i = 0; i < 20; ++i) {
    REQUIRE(world.database().snapshots().restore(account, id));
    if (i == 10) world.database().snapshots().reset(account);
    if (i == 10) break;
  }
  stop = true;
  writer.join();
  CHECK(world.database().catalog().names({std::string(account), "us-east-1"}, "", 10).empty());
  CHECK(theirs->description()->name == "carts");
  CHECK_FALSE(theirs->dropped());
  CHECK(world.inconsistency(theirs).empty());
  CHECK_FALSE(world.database().snapshots().restore(other_account, id));
  CHECK(world.database().accounts().of(other_account).now() == start_ms);
}

TEST_CASE("a reset erases all of an account's data", "[snapshots]") {
  World world;
  const auto keys = keys_by_kind(world);
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const SnapshotId id = world.database().snapshots().take(account);
  world.advance(start_ms + 1000);
  REQUIRE(world.database().tables().drop(carts));  // its stream stays for a day
  make_carts(world);
  world.database().snapshots().reset(account);
  CHECK(world.now() == start_ms);
  CHECK(world.database().accounts().of(account).clock().setting() == ClockSetting{});
  CHECK_FALSE(world.database().snapshots().restore(account, id));
  auto keys_after = keys_by_kind(world);
  keys_after.erase('M');  // the numbers assigned so far
  auto keys_before = keys;
  keys_before.erase('M');
  CHECK(keys_after == keys_before);
}

TEST_CASE("a restore brings back the documents of an account's state and leaves other documents alone",
          "[snapshots]") {
  World world;
  Documents& documents = world.database().documents();
  const DocumentName state{std::string(account), "@position", "a"},
      later{std::string(account), "@position", "b"};
  const DocumentName outside{std::string(account), "function", "f"},
      others{std::string(other_account), "@position", "a"};
  for (const auto& name : {state, outside, others}) documents.put(name, "before");
  const SnapshotId id = world.database().snapshots().take(account);
  for (const auto& name : {state, later, outside, others}) documents.put(name, "after");
  for (int times = 0; times < 2; ++times) {
    REQUIRE(world.database().snapshots().restore(account, id));
    CHECK(documents.get(state) == "before");
    CHECK(documents.get(later) == std::nullopt);
    CHECK(documents.get(outside) == "after");
    CHECK(documents.get(others) == "after");
    documents.put(state, "after");
  }
  world.database().snapshots().reset(account);
  CHECK(documents.get(state) == std::nullopt);
  CHECK(documents.get(outside) == "after");
  CHECK(documents.get(others) == "after");
  documents.erase(outside);
  documents.erase(others);
  auto keys_after = keys_by_kind(world);
  CHECK(keys_after['D'] == 0);
  CHECK(keys_after['E'] == 0);
}

TEST_CASE("dropping a snapshot erases its keys", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  world.put(carts, cart("a", 100));
  const auto keys = keys_by_kind(world);
  const SnapshotId id = world.database().snapshots().take(account);
  CHECK(world.database().snapshots().list(account) == std::vector<SnapshotId>{id});
  CHECK_FALSE(world.database().snapshots().drop(other_account, id));
  CHECK(world.database().snapshots().drop(account, id));
  CHECK_FALSE(world.database().snapshots().drop(account, id));
  CHECK_FALSE(world.database().snapshots().restore(account, id));
  auto keys_after = keys_by_kind(world);
  keys_after['M'] = keys.at('M');
  CHECK(keys_after == keys);
  CHECK(world.database().snapshots().take(account) > id);
}

TEST_CASE("a directory with snapshots in an earlier format is rejected with a readable error",
          "[snapshots]") {
  const TemporaryDirectory directory;
  {
    World world({.directory = directory.path(), .reap = false});
    Batch batch;
    batch.put(table_prefix('Z', 1), "a copy");
    world.database().storage().write(batch);
  }
  const auto opened = Database::open({.directory = directory.path()});
  REQUIRE_FALSE(opened);
  CHECK(opened.error() ==
        "cannot read the data directory: its snapshots were taken by an earlier version of Mayfly; use that "
        "version to delete them");
}

TEST_CASE("snapshots survive a restart", "[snapshots]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100));
  const SnapshotId id = world.database().snapshots().take(account);
  world.advance(start_ms + hour_ms);
  carts.reset();
  world.reopen();
  CHECK(world.all(world.find("carts")).empty());
  REQUIRE(world.database().snapshots().restore(account, id));
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

TEST_CASE("a restore that fails at any write leaves either the old state or the new state",
          "[snapshots][holds]") {
  const TemporaryDirectory directory;
  int writes_left = 1 << 20;
  World world(
      {.directory = directory.path(), .reap = false, .write_fails = [&] { return --writes_left < 0; }});
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100));
  const SnapshotId id = world.database().snapshots().take(account);
  world.put(carts, cart("later", 200));
  bool restored = false;
  int failures = 0;
  for (int writes = 0; !restored; ++writes) {
    writes_left = writes;
    try {
      restored = world.database().snapshots().restore(account, id);
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
  }
  CHECK(failures > 0);
  CHECK(keys_by_kind(world)['I'] == 3 * 10);
}

// --- images of changed keys

TEST_CASE("a snapshot copies no items and a restore writes only what has changed", "[snapshots][holds]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 100; ++i) world.put(carts, cart(std::to_string(i), 100 + i));
  auto before = keys_by_kind(world);
  const SnapshotId id = world.database().snapshots().take(account);
  CHECK(keys_by_kind(world)['I'] == before['I']);
  CHECK(keys_by_kind(world)['B'] == 0);

  world.put(carts, cart("7", 5000));  // changes the item, its old expiry entry and its new one
  CHECK(keys_by_kind(world)['B'] == 3);
  world.put(carts, cart("7", 5001));  // changes one more expiry entry
  CHECK(keys_by_kind(world)['B'] == 4);
  world.remove(carts, {{"id", "8"}});  // changes an item, two index entries and an expiry entry
  CHECK(keys_by_kind(world)['B'] == 8);
  REQUIRE(world.database().snapshots().restore(account, id));
  CHECK(keys_by_kind(world)['B'] == 0);
  CHECK(world.all(world.find("carts")).size() == 100);
  CHECK(world.inconsistency(world.find("carts")).empty());
}

TEST_CASE("repeated restores of an older snapshot keep only its differences from the later snapshot",
          "[snapshots]") {
  World world;
  make_carts(world);
  const SnapshotId empty = world.database().snapshots().take(account);
  for (int i = 0; i < 10; ++i) world.put(world.find("carts"), cart(std::to_string(i), 100 + i));
  const SnapshotId full = world.database().snapshots().take(account);
  int kept = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i)
      world.put(world.find("carts"), cart("of round " + std::to_string(round * 10 + i), 500));
    REQUIRE(world.database().snapshots().restore(account, empty));
    CHECK(world.all(world.find("carts")).empty());
    if (round == 0) kept = keys_by_kind(world)['B'];
    CHECK(keys_by_kind(world)['B'] == kept);
  }
  REQUIRE(world.database().snapshots().restore(account, full));
  CHECK(world.all(world.find("carts")).size() == 10);
  CHECK(world.inconsistency(world.find("carts")).empty());
}

TEST_CASE("a dropped table can be restored and its data is erased when no snapshot has it", "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100 + i));
  const SnapshotId id = world.database().snapshots().take(account);
  const TableId table = carts->id();
  REQUIRE(world.database().tables().drop(carts));
  make_carts(world);
  REQUIRE(world.database().snapshots().restore(account, id));
  CHECK(world.find("carts")->id() == table);
  CHECK(world.all(world.find("carts")).size() == 10);
  REQUIRE(world.database().tables().drop(world.find("carts")));
  CHECK(keys_by_kind(world)['I'] == 30);
  REQUIRE(world.database().snapshots().drop(account, id));
  CHECK(keys_by_kind(world)['I'] == 0);
  CHECK(keys_by_kind(world)['X'] == 0);
}

namespace {

// The state of an account at an instant, as its users can see it.
struct AccountState {
  std::map<std::string, std::map<std::string, Item>> tables;  // items by id, by table
  std::map<std::string, std::vector<std::string>> indexes;    // names of indexes, by table
  std::map<std::string, bool> ttl;
  std::map<std::string, std::size_t> records;  // number of records in a table's stream
  Instant now = 0;
};

// The first difference between the states; empty if they are equal.
std::string difference(const AccountState& is, const AccountState& was) {
  if (is.now != was.now) return "the time is " + iso8601(is.now) + ", was " + iso8601(was.now);
  if (is.indexes != was.indexes) return "indexes";
  if (is.ttl != was.ttl) return "TTL";
  for (const auto& [name, count] : was.records)
    if (!is.records.count(name) || is.records.at(name) != count)
      return "records of " + name + ": were " + std::to_string(count) + ", are " +
             (is.records.count(name) ? std::to_string(is.records.at(name)) : "none");
  if (is.tables.size() != was.tables.size()) return "the tables that have items";
  for (const auto& [name, items] : was.tables)
    if (is.tables.count(name) == 0 || is.tables.at(name) != items) return "items of " + name;
  return is.records.size() == was.records.size() ? "" : "the set of tables";
}

AccountState state_of(World& world) {
  AccountState state;
  state.now = world.now();
  for (const std::string& name :
       world.database().catalog().names({std::string(account), "us-east-1"}, "", 100)) {
    const auto table = world.find(name);
    for (Item& item : world.all(table)) {
      std::string id = *item.find("id")->get_if<std::string>();
      state.tables[name][std::move(id)] = std::move(item);
    }
    const auto description = table->description();
    for (const Index& index : description->indexes) {
      state.indexes[name].push_back(index.name);
      REQUIRE(world.all(table, index.id).size() ==
              state.tables[name].size());  // every item has both attributes
    }
    state.ttl[name] = table->description()->ttl.has_value();
    state.records[name] = world.records(table->description()->stream->id).size();
    REQUIRE(world.inconsistency(table) == "");
  }
  return state;
}

}  // namespace

TEST_CASE("each snapshot restores its exact state no matter what has happened since", "[snapshots][holds]") {
  const bool on_disk = GENERATE(false, true);
  const auto seed = GENERATE(range(1u, 21u));
  INFO("seed " << seed << (on_disk ? " on disk" : " in memory"));
  const TemporaryDirectory directory;
  World world({.directory = on_disk ? directory.path() : "", .reap = false, .backfill_at_once_max = 1 << 20});
  REQUIRE(world.database().time_travel().set(account, {ClockSetting::Mode::frozen}, start_ms));
  std::mt19937 random(seed);
  const auto below = [&](unsigned count) { return static_cast<int>(random() % count); };
  std::map<SnapshotId, AccountState> taken;
  const auto some = [&]() -> SnapshotId {
    auto one = taken.begin();
    std::advance(one, below(static_cast<unsigned>(taken.size())));
    return one->first;
  };
  for (int step = 0; step < 120; ++step) {
    const std::string name = below(2) ? "carts" : "orders";
    auto table = world.find(name);
    if (!table) {
      Table description = simple_table(name);
      description.stream = stream_of(StreamView::new_and_old_images);
      description.indexes = {global_index("by_user", "user"), local_index("by_day", "day")};
      table = world.create(description);
      world.enable_ttl(table);
      continue;
    }
    switch (below(16)) {
      case 0: taken[world.database().snapshots().take(account)] = state_of(world); break;
      case 1:
        if (taken.empty()) break;
        if (const SnapshotId id = some(); world.database().snapshots().restore(account, id)) {
          REQUIRE(difference(state_of(world), taken.at(id)) == "");
        } else {
          FAIL("no snapshot " << id);
        }
        break;
      case 2:
        if (below(3) || taken.empty()) break;
        if (const SnapshotId id = some(); world.database().snapshots().drop(account, id)) taken.erase(id);
        break;
      case 3: world.advance(world.now() + 1000 * below(90)); break;
      case 4:
        if (!below(3)) world.database().tables().drop(table);
        break;
      case 5: {
        const bool has = table->description()->ttl.has_value();
        world.database().tables().update(table, [&](Table& edited) {
          edited.ttl = has ? std::nullopt : std::optional(TimeToLive{"ttl"});
        });
        break;
      }
      case 6: {
        const bool has = table->description()->find_index("by_user") != nullptr;
        world.database().tables().update(table, [&](Table& edited) {
          if (has)
            std::erase_if(edited.indexes, [](const Index& index) { return index.name == "by_user"; });
          else
            edited.indexes.push_back(global_index("by_user", "user"));
        });
        break;
      }
      case 7:
        if (on_disk && !below(4)) {
          table.reset();
          world.reopen();
        }
        break;
      case 8: {
        const Stream stream = *world.database().catalog().find_stream(
            {std::string(account), "us-east-1"}, name, table->description()->stream->label);
        if (stream.shards.size() < 6)
          (void)world.database().tables().reshard(table, stream.shards.back().number, Resharding::split);
        break;
      }
      case 9: world.remove(table, {{"id", std::to_string(below(12))}}); break;
      default: {
        Item item = cart(std::to_string(below(12)), (world.now() - start_ms) / 1000 + below(100));
        item.set("n", number(step));
        world.put(table, std::move(item));
      }
    }
  }
  for (const auto& [id, state] : taken) {
    REQUIRE(world.database().snapshots().restore(account, id));
    REQUIRE(difference(state_of(world), state) == "");
  }
  for (const auto& [id, state] : taken) REQUIRE(world.database().snapshots().drop(account, id));
  CHECK(keys_by_kind(world)['B'] == 0);
  for (const std::string& name :
       world.database().catalog().names({std::string(account), "us-east-1"}, "", 100))
    world.database().tables().drop(world.find(name));
  for (const char kind : {'I', 'X', 'T', 'G', 'H', 'J', 'K'}) CHECK(keys_by_kind(world)[kind] == 0);
}

// --- concurrency

TEST_CASE("accounts that take snapshots concurrently each get their own snapshots", "[snapshots][holds]") {
  World world;
  std::vector<std::thread> takers;
  std::array<std::vector<SnapshotId>, 6> taken;
  for (std::size_t i = 0; i < taken.size(); ++i) make_carts(world, "00000000020" + std::to_string(i));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    takers.emplace_back([&, i] {
      const std::string owner = "00000000020" + std::to_string(i);
      for (int round = 0; round < 20; ++round) taken[i].push_back(world.database().snapshots().take(owner));
    });
  }
  for (std::thread& taker : takers) taker.join();
  std::set<SnapshotId> ids;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(world.database().snapshots().list("00000000020" + std::to_string(i)) == taken[i]);
    ids.insert(taken[i].begin(), taken[i].end());
  }
  CHECK(ids.size() == 6 * 20);
}

TEST_CASE("concurrent snapshots and restores and resets and writes leave an account consistent",
          "[snapshots][holds]") {
  World world({.reap = true});
  make_carts(world);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  const auto repeat = [&](auto action) {
    threads.emplace_back([&stop, action]() mutable {
      for (unsigned i = 0; !stop; ++i) action(i);
    });
  };
  Database& database = world.database();
  repeat([&](unsigned) {
    (void)database.snapshots().take(account);
    for (const auto ids = database.snapshots().list(account); ids.size() > 20;) {
      (void)database.snapshots().drop(account, ids.front());
      break;
    }
  });
  repeat([&](unsigned i) {
    if (const auto ids = database.snapshots().list(account); !ids.empty())
      (void)database.snapshots().restore(account, ids[i % ids.size()]);
  });
  repeat([&](unsigned i) {
    if (const auto ids = database.snapshots().list(account); !ids.empty())
      (void)database.snapshots().drop(account, ids[i * 7 % ids.size()]);
  });
  repeat([&](unsigned i) {
    if (i % 50 == 49) {
      database.snapshots().reset(account);
      make_carts(world);
    }
    (void)database.time_travel().advance_by(account, std::chrono::milliseconds(10));
  });
  for (int writer = 0; writer < 2; ++writer) {
    repeat([&, writer](unsigned i) {
      const auto request = database.accounts().of(account).begin_request();
      const auto carts = world.find("carts");
      if (!carts) return;
      Transaction transaction(database.write_path(), Cause::user);
      const Item item = cart(std::to_string(i % 50 + 50 * static_cast<unsigned>(writer)), 1 + i % 5);
      const auto slot = transaction.add(carts, key_of(*carts->description(), item));
      if (!transaction.lock()) return;
      transaction.put(slot, item);
      transaction.commit();
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const SnapshotId id : database.snapshots().list(account)) {
    REQUIRE(database.snapshots().restore(account, id));
    if (const auto carts = world.find("carts")) {
      // The snapshot may have been taken during TTL's backfill, which then continues.
      while (BackfillWalk::needed(*carts->description())) std::this_thread::yield();
      CHECK(world.inconsistency(carts) == "");
    }
    CHECK(database.snapshots().drop(account, id));
  }
  database.snapshots().reset(account);
  for (const char kind : {'I', 'X', 'S', 'T', 'R', 'N', 'G', 'H', 'J', 'K', 'B'})
    CHECK(keys_by_kind(world)[kind] == 0);
}

TEST_CASE("every request sees a restore as a single instant", "[snapshots][holds]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 50; ++i) world.put(carts, cart(std::to_string(i), 1000));
  const std::string key = key_of(*carts->description(), {{"id", "7"}});
  Database& database = world.database();
  const SnapshotId id = database.snapshots().take(account);
  // Creates another table with the same name, so that ids differ before and after a restore.
  REQUIRE(database.tables().drop(carts));
  carts = make_carts(world);
  for (int i = 0; i < 50; ++i) world.put(carts, cart(std::to_string(i), 1000));
  const SnapshotId other = database.snapshots().take(account);
  std::atomic<bool> stop{false};
  std::atomic<int> missing{0}, refused{0}, requests{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; !stop; ++i, ++requests) {
        const auto request = database.accounts().of(account).begin_request();
        const auto found = world.find("carts");
        if (!found) {
          ++refused;
        } else if (client == 0) {
          missing += database.reader().get(*found, key) ? 0 : 1;
        } else if (client == 1) {
          missing += world.all(found, 1).size() == 50 ? 0 : 1;
        } else {
          Transaction transaction(database.write_path(), Cause::user);
          const auto slot = transaction.add(found, key);
          if (!transaction.lock()) {
            ++refused;
            continue;
          }
          missing += transaction.old_item(slot) ? 0 : 1;
          transaction.put(slot, cart("7", 1000 + i % 10));
          transaction.commit();
        }
      }
    });
  }
  for (int i = 0; i < 200; ++i) REQUIRE(database.snapshots().restore(account, i % 2 ? id : other));
  while (requests < 1000) std::this_thread::yield();
  stop = true;
  for (std::thread& client : clients) client.join();
  CHECK(missing == 0);
  CHECK(refused == 0);
}

TEST_CASE("a restore or drop in an in-memory database changes nothing if it fails and can be retried",
          "[snapshots]") {
  int writes_left = 1 << 20;
  World world({.reap = false, .write_fails = [&] { return --writes_left < 0; }});
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 100));
  const SnapshotId first = world.database().snapshots().take(account);
  world.put(carts, cart("3", 200));
  const SnapshotId second = world.database().snapshots().take(account);
  world.put(carts, cart("4", 200));
  for (const SnapshotId id : {second, first}) {
    writes_left = 0;
    CHECK_THROWS_AS((void)world.database().snapshots().restore(account, id), StorageFault);
    CHECK_THROWS_AS((void)world.database().snapshots().drop(account, id), StorageFault);
    writes_left = 1 << 20;
    CHECK(world.get(world.find("carts"), {{"id", "4"}}) == cart("4", 200));
  }
  REQUIRE(world.database().snapshots().restore(account, second));
  CHECK(world.get(world.find("carts"), {{"id", "3"}}) == cart("3", 200));
  CHECK(world.get(world.find("carts"), {{"id", "4"}}) == cart("4", 100));
  REQUIRE(world.database().snapshots().restore(account, first));
  CHECK(world.get(world.find("carts"), {{"id", "3"}}) == cart("3", 100));
  CHECK(world.inconsistency(world.find("carts")).empty());
}

TEST_CASE("data that snapshots keep in memory counts as used memory until the snapshots are dropped",
          "[snapshots]") {
  World world;
  auto carts = make_carts(world);
  const auto put_all = [&](char letter) {
    for (int i = 0; i < 20; ++i)
      world.put(carts, {{"id", std::to_string(i)}, {"a", std::string(100'000, letter)}});
  };
  put_all('a');
  const SnapshotId snapshot = world.database().snapshots().take(account);
  put_all('b');
  put_all('c');  // no snapshot needs the values that these writes replace
  const std::uint64_t with = world.database().health().footprint_bytes();
  REQUIRE(world.database().snapshots().drop(account, snapshot));
  CHECK(with - world.database().health().footprint_bytes() >= 2'000'000);
}

// ThreadSanitizer tracks at most 64 locks per thread, and taking a snapshot locks each table.
#ifndef __SANITIZE_THREAD__
TEST_CASE("the memory cost of a snapshot depends on the changes since the previous one", "[snapshots]") {
  World world;
  constexpr int tables = 500;
  for (int i = 0; i < tables; ++i) world.create(simple_table("table" + std::to_string(i)));
  const auto cost_of = [&](int snapshots) {
    const std::uint64_t before = world.database().health().footprint_bytes();
    for (int i = 0; i < snapshots; ++i) world.database().snapshots().take(account);
    return world.database().health().footprint_bytes() - before;
  };
  constexpr std::uint64_t block_bytes = 65'536;  // the step in which storage's buffer grows
  const std::uint64_t first = cost_of(1);
  CHECK(first >= tables * 100);
  CHECK(cost_of(100) <= 2 * block_bytes);

  const std::vector<SnapshotId> same = world.database().snapshots().list(account);
  world.put(world.find("table7"), {{"id", "a"}});
  world.create(simple_table("another"));
  CHECK(cost_of(1) <= first / 4 + block_bytes);

  REQUIRE(world.database().snapshots().restore(account, same[50]));
  CHECK(world.all(world.find("table7")).empty());
  CHECK_FALSE(world.find("another"));
  CHECK(world.inconsistency(world.find("table7")).empty());
  REQUIRE(world.database().snapshots().restore(account, world.database().snapshots().list(account).back()));
  CHECK(world.all(world.find("table7")).size() == 1);
  CHECK(world.find("another"));

  const std::uint64_t with = world.database().health().footprint_bytes();
  for (const SnapshotId id : world.database().snapshots().list(account))
    REQUIRE(world.database().snapshots().drop(account, id));
  CHECK(with - world.database().health().footprint_bytes() >= first / 2);
}
#endif

TEST_CASE("the expiry view reports upcoming expiries without changing anything", "[expiry_view]") {
  World world;
  auto carts = make_carts(world);
  for (int i = 0; i < 10; ++i) world.put(carts, cart(std::to_string(i), 30 + 10 * i));
  const auto upcoming = world.database().expiries().upcoming(*carts, 3);
  REQUIRE(upcoming.size() == 3);
  CHECK(upcoming[0].key == Item{{"id", "0"}});
  CHECK(upcoming[0].due == start_ms + 30'001);
  CHECK(upcoming[0].fires == start_ms + 30'001);
  CHECK(upcoming[2].key == Item{{"id", "2"}});
  const auto windows = world.database().expiries().windows(*carts, 10);
  REQUIRE(windows.size() == 3);
  CHECK(windows[0].name == "2024-05-01T00:00:00.000Z_2024-05-01T00:01:00.000Z");
  CHECK(windows[0].items == 3);
  CHECK(windows[1].items == 6);
  CHECK(windows[2].items == 1);
  ExpiryTotals totals = world.database().expiries().totals(*carts);
  CHECK(totals.pending == 10);
  CHECK(totals.due == 0);
  CHECK(totals.next_due == start_ms + 30'001);
  world.clock().set(start_ms + 60'001);
  totals = world.database().expiries().totals(*carts);
  CHECK(totals.due == 4);
  CHECK(totals.pending == 10);
}

}  // namespace mayfly::testing
