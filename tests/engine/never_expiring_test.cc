// Items that have a TTL but never expire are counted correctly, whatever happens to them or to their table.
#include <catch2/catch.hpp>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "engine/background/index_backfill.h"
#include "engine/background/reaper.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/items/expiry_view.h"
#include "engine/items/transaction.h"
#include "engine/schema/table.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/time/expiry_index.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

namespace {

using Live = std::shared_ptr<LiveTable>;

constexpr std::int64_t five_years_s = expiry_age_ms_max / 1000;

Item with_ttl(const std::string& id, AttributeValue ttl) { return {{"id", id}, {"ttl", std::move(ttl)}}; }

// Returns the counts in this order: "milliseconds string wrong_type too_old".
std::string counted(const Live& table) {
  std::string text;
  for (const std::int64_t count : table->never_expiring_items())
    text += (text.empty() ? "" : " ") + std::to_string(count);
  return text;
}

struct NeverWorld : World {
  explicit NeverWorld(DatabaseOptions options = {.reap = false}) : World(std::move(options)) {}

  Live carts = create(simple_table("carts"));

  // One item for each reason, one that expires, and one without a TTL.
  void put_one_of_each() {
    put(carts, with_ttl("ms", number(start_ms + 1000)));
    put(carts, with_ttl("string", std::to_string(start_seconds + 60)));
    put(carts, with_ttl("list", List{number(1)}));
    put(carts, with_ttl("negative", number(-1)));
    put(carts, with_ttl("good", number(start_seconds + 60)));
    put(carts, {{"id", "none"}});
  }
};

// Changes the stored table and snapshot to what earlier versions of Mayfly wrote. Those versions wrote no
// entries and no counters for items that never expire, and their descriptions do not say that the table lists
// such items.
void forget_never(World& world, const Live& live, SnapshotId snapshot) {
  Database& database = world.database();
  Batch batch;
  Storage::Iterator entries(database.storage(), ExpiryIndex::never_begin(live->id()),
                            prefix_end(table_prefix('X', live->id())));
  for (entries.seek_to_first(); entries.valid(); entries.next()) batch.erase(entries.key());
  std::string member = table_prefix('H', snapshot);
  append_big_endian(member, live->id());
  for (const NeverReason reason : never_reasons) {
    batch.erase(counter_key(live->id(), never_counter(reason)));
    std::string counter = member;
    counter[0] = 'K';
    append_big_endian(counter, never_counter(reason));
    batch.erase(counter);
  }
  Table table = *live->description();
  table.ttl->lists_never = false;
  batch.put(table_prefix('T', live->id()), encode_description(table));
  batch.put(member, encode_description(table));
  database.storage().write(batch);
}

}  // namespace

TEST_CASE("items that never expire are counted by reason") {
  NeverWorld world;
  world.enable_ttl(world.carts);
  world.put_one_of_each();
  world.put(world.carts, with_ttl("old", number(start_seconds - five_years_s - 1)));
  CHECK(counted(world.carts) == "1 1 1 2");
  CHECK(world.carts->counter(expiry_entries).items == 1);
  CHECK(world.inconsistency(world.carts).empty());
  CHECK(world.advance(start_ms + 100'000) == 1);
  CHECK(counted(world.carts) == "1 1 1 2");
}

TEST_CASE("the count of items that never expire stays correct after overwrites and renewals and deletions") {
  NeverWorld world;
  world.enable_ttl(world.carts);
  const auto put = [&](AttributeValue ttl) {
    world.put(world.carts, with_ttl("a", std::move(ttl)));
    CHECK(world.inconsistency(world.carts).empty());
    return counted(world.carts);
  };
  CHECK(put("soon") == "0 1 0 0");
  CHECK(put("later") == "0 1 0 0");
  CHECK(put(number(start_ms)) == "1 0 0 0");
  CHECK(put(AttributeValue(Null{})) == "0 0 1 0");
  CHECK(put(number(start_seconds + 60)) == "0 0 0 0");
  CHECK(put(number(0)) == "0 0 0 1");
  CHECK(put(number(1)) == "0 0 0 1");
  world.remove(world.carts, {{"id", "a"}});
  CHECK(counted(world.carts) == "0 0 0 0");
  CHECK(put("soon") == "0 1 0 0");
  world.put(world.carts, {{"id", "a"}});
  CHECK(counted(world.carts) == "0 0 0 0");
  CHECK(world.inconsistency(world.carts).empty());
}

TEST_CASE("an item that becomes too old to expire in manual mode is counted by the next write or sweep") {
  NeverWorld world;
  world.database().tables().update(world.carts, [](Table& table) {
    table.ttl = TimeToLive{"ttl"};
    table.expiry.kind = ExpiryMode::Kind::manual;
  });
  world.put(world.carts, with_ttl("a", number(start_seconds + 60)));
  world.put(world.carts, with_ttl("b", number(start_seconds + 60)));
  world.advance(start_ms + expiry_age_ms_max + 120'000);
  CHECK(world.inconsistency(world.carts).empty());
  world.put(world.carts, with_ttl("b", number(start_seconds + 61)));  // before the sweep
  CHECK(counted(world.carts) == "0 0 0 1");
  CHECK(world.database().reaper().sweep(world.carts) == 0);
  CHECK(counted(world.carts) == "0 0 0 2");
  CHECK(world.inconsistency(world.carts).empty());
  world.put(world.carts, with_ttl("a", number(start_seconds + five_years_s + 300)));
  world.remove(world.carts, {{"id", "b"}});
  CHECK(counted(world.carts) == "0 0 0 0");
  CHECK(world.inconsistency(world.carts).empty());
}

TEST_CASE("enabling TTL counts existing items that never expire and disabling TTL clears the counts") {
  for (const std::size_t at_once : {std::size_t{10'000}, std::size_t{2}}) {
    NeverWorld world({.reap = false, .backfill_at_once_max = at_once});
    world.put_one_of_each();
    CHECK(counted(world.carts) == "0 0 0 0");
    world.enable_ttl(world.carts);
    while (world.carts->description()->ttl->backfilling) std::this_thread::yield();
    CHECK(counted(world.carts) == "1 1 1 1");
    CHECK(world.inconsistency(world.carts).empty());
    world.enable_ttl(world.carts, "other");
    while (world.carts->description()->ttl->backfilling) std::this_thread::yield();
    CHECK(counted(world.carts) == "0 0 0 0");
    world.enable_ttl(world.carts);
    world.database().tables().update(world.carts, [](Table& table) { table.ttl.reset(); });
    CHECK(counted(world.carts) == "0 0 0 0");
    CHECK(world.inconsistency(world.carts).empty());
  }
}

TEST_CASE("an item that never expires is counted once even if it is written during TTL's backfill") {
  NeverWorld world;
  for (const char* id : {"a", "b", "c", "d"}) world.put(world.carts, with_ttl(id, "soon"));
  Database& database = world.database();
  const auto description =
      database.catalog_itself().update(*world.carts, [](Table& table) { table.ttl = TimeToLive{"ttl"}; });
  BackfillWalk walk(world.database().catalog_itself(), world.database().write_path(), world.carts,
                    *description);
  REQUIRE_FALSE(walk.step(2));
  for (const char* id : {"a", "d"}) world.remove(world.carts, {{"id", id}});
  for (const char* id : {"b", "c"}) world.put(world.carts, with_ttl(id, List{}));
  CHECK(walk.step(1000));
  CHECK(counted(world.carts) == "0 0 2 0");
  CHECK(world.inconsistency(world.carts).empty());
}

TEST_CASE("the count of items that never expire is correct after restarts and restores and drops") {
  TemporaryDirectory directory;
  for (const bool durable : {false, true}) {
    NeverWorld world({.directory = durable ? directory.path() : std::string(), .reap = false});
    world.enable_ttl(world.carts);
    world.put_one_of_each();
    const SnapshotId snapshot = world.database().snapshots().take(account);
    world.remove(world.carts, {{"id", "ms"}});
    world.put(world.carts, with_ttl("string", number(start_seconds + 100)));
    world.put(world.carts, with_ttl("more", "soon"));
    world.put(world.carts, with_ttl("and more", "soon"));
    CHECK(counted(world.carts) == "0 2 1 1");
    if (durable) {
      world.reopen();
      world.carts = world.find("carts");
      CHECK(counted(world.carts) == "0 2 1 1");
    }
    REQUIRE(world.database().snapshots().restore(account, snapshot));
    world.carts = world.find("carts");
    CHECK(counted(world.carts) == "1 1 1 1");
    CHECK(world.inconsistency(world.carts).empty());
    world.database().tables().drop(world.carts);
    world.carts = world.create(simple_table("carts"));
    world.enable_ttl(world.carts);
    CHECK(counted(world.carts) == "0 0 0 0");
    REQUIRE(world.database().snapshots().restore(account, snapshot));
    CHECK(counted(world.find("carts")) == "1 1 1 1");
    CHECK(world.inconsistency(world.find("carts")).empty());
  }
}

TEST_CASE("items that never expire are counted when a directory of an earlier version is opened") {
  TemporaryDirectory directory;
  NeverWorld world({.directory = directory.path(), .reap = false});
  world.enable_ttl(world.carts);
  world.put_one_of_each();
  const SnapshotId snapshot = world.database().snapshots().take(account);
  forget_never(world, world.carts, snapshot);
  world.reopen();
  world.carts = world.find("carts");
  const auto wait = [&] {
    while (!world.find("carts")->description()->ttl->lists_never) std::this_thread::yield();
    return world.find("carts");
  };
  CHECK(counted(wait()) == "1 1 1 1");
  CHECK(world.inconsistency(wait()).empty());
  REQUIRE(world.database().snapshots().restore(account, snapshot));
  CHECK(counted(wait()) == "1 1 1 1");
  CHECK(world.inconsistency(wait()).empty());
  world.reopen();
  CHECK(world.find("carts")->description()->ttl->lists_never);
  CHECK(counted(world.find("carts")) == "1 1 1 1");
}

TEST_CASE("items that never expire are neither listed as upcoming nor counted as pending nor swept") {
  NeverWorld world;
  world.enable_ttl(world.carts);
  world.put(world.carts, with_ttl("string", "soon"));
  world.put(world.carts, with_ttl("ms", number(start_ms)));
  Database& database = world.database();
  CHECK(database.expiries().upcoming(*world.carts, 10).empty());
  CHECK(database.expiries().windows(*world.carts, 10).empty());
  CHECK(database.expiries().totals(*world.carts).pending == 0);
  CHECK_FALSE(database.time_travel().next_expiry(account));
  CHECK(database.reaper().sweep(world.carts) == 0);
  CHECK(database.time_travel().advance_to_next_expiry(account).expired == 0);
  world.advance(last_instant);
  CHECK(world.carts->counter(0).items == 2);
}

TEST_CASE("the latest items with a suspicious TTL are listed unless they have been overwritten") {
  std::vector<NeverReason> told;
  NeverWorld world({.reap = false,
                    .never_expires = [&](const Table& table, const Item& key, NeverReason reason,
                                         const AttributeValue& ttl) {
                      CHECK(table.name == "carts");
                      CHECK(key == Item{{"id", "a"}});
                      CHECK(ttl == AttributeValue("soon"));
                      told.push_back(reason);
                    }});
  world.enable_ttl(world.carts);
  const auto ids = [&] {
    std::string text;
    for (const TtlSuspect& suspect : world.database().expiries().suspects(*world.carts)) {
      CHECK(suspect.at.value_or(start_ms) == start_ms);  // no time if the suspect is from the index
      text += (text.empty() ? "" : " ") + suspect.key_attributes.find("id")->get_if<std::string>()[0] +
              (suspect.never ? "" : "!");
    }
    return text;
  };
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"})
    world.put(world.carts, with_ttl(id, "soon"));
  CHECK(told == std::vector{NeverReason::string});
  CHECK(ids() == "k j i h g f e d c b");
  world.put(world.carts, with_ttl("k", number(start_seconds + 60)));
  world.remove(world.carts, {{"id", "j"}});
  CHECK(ids() == "i h g f e d c b a");
  world.put(world.carts, with_ttl("z", number(start_seconds - 60)));  // deleted immediately
  CHECK(ids() == "z! i h g f e d c b a");
  world.put(world.carts, {{"id", "z"}});
  CHECK(ids() == "i h g f e d c b a");
}

TEST_CASE("an item still expires if the warning about another item in its transaction fails") {
  NeverWorld world({.reap = false, .never_expires = [](const auto&...) { throw std::bad_alloc(); }});
  world.enable_ttl(world.carts);
  {  // the end of this block releases the locks
    Transaction transaction(world.database().write_path(), Cause::user);
    const auto add = [&](const char* id) {
      return transaction.add(world.carts, key_of(*world.carts->description(), {{"id", id}}));
    };
    const auto never = add("never"), soon = add("soon");
    REQUIRE(transaction.lock());
    transaction.put(never, with_ttl("never", "a string"));
    transaction.put(soon, with_ttl("soon", number(start_seconds + 60)));
    CHECK_THROWS_AS(transaction.commit(), std::bad_alloc);
  }
  CHECK(world.advance(start_ms + 100'000) == 1);
}

TEST_CASE("items with a suspicious TTL are found in the index after a restart") {
  TemporaryDirectory directory;
  NeverWorld world({.directory = directory.path(), .reap = false});
  world.enable_ttl(world.carts);
  for (int i = 0; i < 12; ++i) world.put(world.carts, with_ttl("i" + std::to_string(i), "soon"));
  world.reopen();
  const auto suspects = world.database().expiries().suspects(*world.find("carts"));
  REQUIRE(suspects.size() == TtlSuspects::kept_max);
  CHECK(suspects[0].never == NeverReason::string);
  CHECK_FALSE(suspects[0].at);
}

TEST_CASE("the consistency check finds wrong entries and counters for items that never expire") {
  NeverWorld world;
  world.enable_ttl(world.carts);
  world.put_one_of_each();
  Database& database = world.database();
  const auto key = [&](const char* id) { return key_of(*world.carts->description(), {{"id", id}}); };
  const TableId table = world.carts->id();
  struct Damage {
    std::string entry;
    bool there;
    std::string found;
  };
  const Damage damages[] = {
      {ExpiryIndex::never_key(table, NeverReason::string, key("string")), false,
       "the item id=\"string\" never expires but has no entry with the reason"},
      {ExpiryIndex::never_key(table, NeverReason::string, key("ms")), true,
       "the expiry index says that the item id=\"ms\" never expires, but its TTL says otherwise"},
      {ExpiryIndex::never_key(table, NeverReason::too_old, key("gone")), true,
       "the expiry index says that the item id=\"gone\" never expires, but the item is missing"},
  };
  for (const Damage& damage : damages) {
    Batch batch, back;
    damage.there ? batch.put(damage.entry, {}) : batch.erase(damage.entry);
    damage.there ? back.erase(damage.entry) : back.put(damage.entry, {});
    database.storage().write(batch);
    CHECK(world.inconsistency(world.carts).find(damage.found) != std::string::npos);
    database.storage().write(back);
    CHECK(world.inconsistency(world.carts).empty());
  }
  world.carts->counter(never_counter(NeverReason::string)).items = 7;
  CHECK(world.inconsistency(world.carts).find("its items that never expire says 7 (0 bytes); there are 1") !=
        std::string::npos);
}

}  // namespace mayfly::testing
