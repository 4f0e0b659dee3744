#include "engine/background/reaper.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/background/index_backfill.h"
#include "engine/database.h"
#include "engine/items/item_reader.h"
#include "engine/storage/storage.h"
#include "engine/time/expiry_index.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::shared_ptr<LiveTable> expiring_table(World& world, const std::string& name = "carts") {
  Table description = simple_table(name);
  description.stream = stream_of(StreamView::new_and_old_images);
  description.indexes = {global_index("by_user", "user"), local_index("by_day", "day")};
  auto table = world.create(description);
  world.enable_ttl(table);
  return table;
}

Item expiring_item(const std::string& id, std::int64_t in_seconds) {
  return {{"id", id}, {"user", "u"}, {"day", "mon"}, {"ttl", number(start_seconds + in_seconds)}};
}

// One string for each REMOVE record, such as "a@60001 ttl": the item, the milliseconds since the start, and
// who removed the item.
std::vector<std::string> removals(World& world, const std::shared_ptr<LiveTable>& table) {
  std::vector<std::string> result;
  for (const ChangeRecord& record : world.records(table->description()->stream->id))
    if (record.kind == ChangeRecord::Kind::remove)
      result.push_back(*record.keys.find("id")->get_if<std::string>() + "@" +
                       std::to_string(record.created - start_ms) +
                       (record.cause == Cause::time_to_live ? " ttl" : " user"));
  return result;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("an item and its index entries are deleted at the first instant after its TTL", "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 60));
  CHECK(world.advance(start_ms + 60'000) == 0);
  CHECK(world.get(carts, {{"id", "a"}}));
  CHECK(world.advance(start_ms + 60'001) == 1);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(world.all(carts, 1).empty());
  CHECK(world.all(carts, 2).empty());
  CHECK(world.inconsistency(carts).empty());
  CHECK(removals(world, carts) == Strings{"a@60001 ttl"});
  const auto records = world.records(carts->description()->stream->id);
  CHECK(records.back().old_image == expiring_item("a", 60));
}

TEST_CASE("an advance visits the due instants of all tables in order", "[reaper]") {
  World world;
  auto carts = expiring_table(world), orders = expiring_table(world, "orders");
  world.put(carts, expiring_item("late", 300));
  world.put(carts, expiring_item("early", 10));
  world.put(orders, expiring_item("middle", 20));
  world.put(carts, {{"id", "fraction"}, {"ttl", number(std::to_string(start_seconds + 20) + ".25")}});
  CHECK(world.advance(start_ms + 400'000) == 4);
  CHECK(world.now() == start_ms + 400'000);
  CHECK(removals(world, carts) == Strings{"early@10001 ttl", "fraction@20251 ttl", "late@300001 ttl"});
  CHECK(removals(world, orders) == Strings{"middle@20001 ttl"});
  const Sequence middle = world.records(orders->description()->stream->id).back().sequence;
  const auto of_carts = world.records(carts->description()->stream->id);
  CHECK(of_carts[of_carts.size() - 3].sequence < middle);
  CHECK(of_carts[of_carts.size() - 2].sequence > middle);
}

TEST_CASE("a renewed item is not deleted by its old timer", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 60));
  world.put(carts, expiring_item("b", 60));
  world.put(carts, expiring_item("c", 60));
  world.put(carts, expiring_item("a", 120));       // renewed
  world.put(carts, {{"id", "b"}, {"user", "u"}});  // no longer has a TTL
  world.put(carts, {{"id", "c"}, {"ttl", "not a number"}});
  world.advance(start_ms + 119'000);
  CHECK(world.all(carts).size() == 3);
  CHECK(world.inconsistency(carts).empty());
  world.advance(start_ms + 121'000);
  CHECK(removals(world, carts) == Strings{"a@120001 ttl"});
}

TEST_CASE("a new item is not deleted by the timer of a removed item with the same key", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 60));
  world.remove(carts, {{"id", "a"}});
  world.put(carts, expiring_item("a", 600));
  world.advance(start_ms + 599'000);
  CHECK(removals(world, carts) == Strings{"a@0 user"});
  CHECK(world.get(carts, {{"id", "a"}}));
}

TEST_CASE("a stale expiry entry is erased and its item is kept", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 600));
  // An outdated entry, like one that the reaper read before a renewal.
  const std::string key = key_of(*carts->description(), {{"id", "a"}});
  const Instant stale = start_ms + 1;
  Batch batch;
  batch.put(world.database().write_path().expiry.entry_key(carts->id(), stale, key), {});
  world.database().storage().write(batch);
  carts->counter(expiry_entries).items += 1;
  world.timers().push({carts->id(), stale, stale});
  CHECK(world.inconsistency(carts) ==
        "table carts (000000000000, us-east-1): found an expiry entry of the item id=\"a\", which "
        "expires at another time");

  CHECK(world.advance(start_ms + 1000) == 0);
  CHECK(world.get(carts, {{"id", "a"}}));
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("the reaper re-checks an item under the item's lock", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 60));
  std::atomic<std::int64_t> reaped{-1};
  std::thread reaper;
  {
    // A renewal that began in time and is in progress when the reaper handles the old entry.
    Transaction renewal(world.database().write_path(), Cause::user);
    const auto slot = renewal.add(carts, key_of(*carts->description(), {{"id", "a"}}));
    REQUIRE(renewal.lock());
    world.clock().set(start_ms + 60'001);
    reaper = std::thread([&] { reaped = world.database().reaper().reap_due(); });
    while (world.database().accounts().of(account).try_turn())
      std::this_thread::yield();  // until the reaper is sweeping
    renewal.put(slot, expiring_item("a", 6000));
    renewal.commit();
  }
  reaper.join();
  CHECK(reaped == 0);
  CHECK(world.get(carts, {{"id", "a"}}) == expiring_item("a", 6000));
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an item that is already due when it is written is deleted by that write", "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", -60));
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(world.all(carts, 1).empty());
  CHECK(removals(world, carts) == Strings{"a@0 ttl"});
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.database().reaper().reap_due() == 0);
}

TEST_CASE("an item whose TTL passed over five years ago stays and the reaper does not examine it again",
          "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("old", -157'784'761));
  world.put(carts, expiring_item("edge", -157'784'760));
  world.put(carts, {{"id", "negative"}, {"ttl", number(-1)}});
  world.put(carts, {{"id", "milliseconds"}, {"ttl", number(start_ms)}});
  CHECK(removals(world, carts) == Strings{"edge@0 ttl"});  // a TTL that is exactly five years old is valid
  CHECK(world.database().reaper().reap_due() == 0);
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.all(carts).size() == 3);
  CHECK_FALSE(world.database().time_travel().next_expiry(account));
  CHECK(world.timers().size() == 0);
}

TEST_CASE("items that are due at the same instant are deleted in key order", "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  std::vector<std::pair<std::string, std::string>> order;
  for (int i = 0; i < 300; ++i) {
    const Item item = expiring_item(std::to_string(i), 60);
    world.put(carts, item);
    order.emplace_back(key_of(*carts->description(), item), std::to_string(i) + "@60001 ttl");
  }
  std::sort(order.begin(), order.end());
  Strings expected;
  for (const auto& [key, text] : order) expected.push_back(text);
  CHECK(world.advance(start_ms + 60'001) == 300);
  CHECK(removals(world, carts) == expected);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("switching TTL off or to another attribute erases the old expiry entries", "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  Item both = expiring_item("both", 60);
  both.set("other", number(start_seconds + 120));
  world.put(carts, expiring_item("a", 60));
  world.put(carts, both);
  world.database().tables().update(carts, [](Table& table) { table.ttl.reset(); });
  CHECK(world.inconsistency(carts).empty());
  world.advance(start_ms + 61'000);
  CHECK(world.all(carts).size() == 2);

  world.enable_ttl(carts, "other");
  CHECK(world.inconsistency(carts).empty());
  world.advance(start_ms + 121'000);
  CHECK(removals(world, carts) == Strings{"both@120001 ttl"});
}

TEST_CASE("a due item whose deletion fails stays for the next attempt", "[reaper]") {
  bool fails = false;
  World world({.reap = false, .write_fails = [&] { return fails; }});
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("a", 60));
  fails = true;
  CHECK_THROWS_AS(world.advance(start_ms + 61'000), StorageFault);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));  // the item is due; only its deletion is late
  CHECK(carts->counter(0).items == 1);
  fails = false;
  CHECK(world.advance(start_ms + 62'000) == 1);
}

TEST_CASE("far-off timers are not loaded and do not wake the reaper", "[reaper][holds]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = expiring_table(world);
  Transaction many(world.database().write_path(), Cause::user);
  std::vector<Item> items;
  for (int i = 0; i < 2000; ++i) items.push_back(expiring_item(std::to_string(i), 1'000'000 + i));
  for (const Item& item : items) many.add(carts, key_of(*carts->description(), item));
  REQUIRE(many.lock());
  for (std::size_t slot = 0; slot < items.size(); ++slot) many.put(slot, items[slot]);
  many.commit();
  const TimerQueue& timers = world.timers();
  CHECK(timers.size() == 1);
  CHECK(timers.earliest()->due == start_ms + 1'000'000'001);

  int woken = 0;
  world.database().accounts().reaper_waker().set([&](Account&) { ++woken; });
  world.put(carts, expiring_item("later", 2'000'000));
  CHECK(woken == 0);

  // A restart reads only the index's first entry, not the table.
  carts.reset();
  world.reopen();
  CHECK(world.timers().size() == 1);
  CHECK(world.database().reaper().reap_due() == 0);
  CHECK(world.timers().earliest()->due == start_ms + 1'000'000'001);
}

TEST_CASE("a sweep skips the index entries of items that have already been deleted", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  for (int i = 0; i < 100; ++i) world.put(carts, expiring_item(std::to_string(i), i));
  world.advance(start_ms + 50'000);
  // Entries 0 to 49 are tombstones. The watermark makes the next sweep start at the entry of item 50.
  CHECK(world.timers().earliest()->due == start_ms + 50'001);
  // Neither a later entry nor a renewal moves the watermark.
  world.put(carts, expiring_item("sooner", 55));
  world.put(carts, expiring_item("50", 500));
  CHECK(world.timers().earliest()->due == start_ms + 50'001);
  CHECK(world.database().time_travel().next_expiry(account) == start_ms + 51'001);
}

TEST_CASE("a backlog is deleted after a restart while requests are served", "[reaper]") {
  const TemporaryDirectory directory;
  auto clock = std::make_shared<ManualClock>(start_ms);
  World world({.directory = directory.path(), .clock = clock, .reap = false});
  {
    auto carts = expiring_table(world);
    for (int i = 0; i < 500; ++i) world.put(carts, expiring_item(std::to_string(i), 60));
    world.put(carts, expiring_item("stays", 6000));
  }
  world.close();

  clock->set(start_ms + 3600'000);
  auto opened = Database::open({.directory = directory.path(), .clock = clock});
  REQUIRE(opened);
  Database& database = **opened;
  auto carts = database.catalog().find({"000000000000", "us-east-1"}, "carts");
  while (carts->counter(0).items > 1) {
    // Reads are served during the deletion.
    REQUIRE(database.reader().get(*carts, key_of(*carts->description(), {{"id", "stays"}})));
  }
  CHECK(carts->counter(1).items == 1);
}

TEST_CASE("on the host's clock an item expires automatically and never early", "[reaper]") {
  World world({.clock = std::make_shared<SystemClock>()});
  auto carts = expiring_table(world);
  Instant now = world.now();
  const Instant due = now + 30;
  const std::string seconds =
      std::to_string((due - 1) / 1000) + "." + std::to_string(1000 + (due - 1) % 1000).substr(1);
  world.put(carts, {{"id", "a"}, {"ttl", number(seconds)}});
  while (world.get(carts, {{"id", "a"}})) {}
  CHECK(world.now() >= due);
  while (world.records(carts->description()->stream->id).size() < 2) {}
  const auto record = world.records(carts->description()->stream->id).back();
  CHECK(record.cause == Cause::time_to_live);
  CHECK(record.created >= due);
  CHECK(record.old_image->find("ttl")->get_if<Number>()->floor_scaled(3) == due - 1);
}

TEST_CASE("writers and the reaper share items without losing a renewal", "[reaper][holds]") {
  World world({.clock = std::make_shared<SystemClock>()});
  auto carts = expiring_table(world);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 400; ++i) {
        const Instant now = world.now();
        // Half of the items are due immediately, and the others are due in an hour.
        const bool expires = (i + writer) % 2 == 0;
        world.put(carts, {{"id", std::to_string(i % 5)},
                          {"user", "u"},
                          {"n", number(i * 10 + writer)},
                          {"ttl", number((expires ? now - 2000 : now + 3'600'000) / 1000)}});
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  while (world.database().reaper().reap_due() > 0) {}
  // No item was removed before it was due.
  std::size_t wrong = 0;
  for (const ChangeRecord& record : world.records(carts->description()->stream->id)) {
    if (record.kind != ChangeRecord::Kind::remove) continue;
    wrong += record.cause != Cause::time_to_live;
    const auto due = due_of(*carts->description(), *record.old_image);
    wrong += !due || *due > record.created;
  }
  CHECK(wrong == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("an item that becomes due during another thread's turn on its account is deleted after the turn",
          "[reaper][holds]") {
  World world({.clock = std::make_shared<SystemClock>()});
  auto carts = expiring_table(world);
  Account& owner = world.database().accounts().of(account);
  const auto removed = [&] { return carts->expiry_stats().deleted(); };
  for (int round = 1; round <= 20; ++round) {
    {
      const Account::Turn turn = owner.take_turn();
      const Instant due = world.now() + 5;
      const std::string seconds =
          std::to_string((due - 1) / 1000) + "." + std::to_string(1000 + (due - 1) % 1000).substr(1);
      world.put(carts, {{"id", "a"}, {"ttl", number(seconds)}});
      const bool in_time = world.now() < due;  // false if the write deleted the item, which was already due
      while (world.now() < due + 5) std::this_thread::yield();  // until the reaper has tried to take the turn
      if (in_time) REQUIRE(removed() == round - 1);
    }
    for (int i = 0; removed() < round && i < 10'000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(removed() == round);
  }
}

TEST_CASE("a timer that is pushed while the next expiry is looked up is not lost", "[reaper][holds]") {
  World world;
  auto carts = expiring_table(world);
  world.put(carts, expiring_item("far", 1'000'000));
  std::atomic<bool> stop{false};
  std::thread asker([&] {
    while (!stop) (void)world.database().time_travel().next_expiry(account);
  });
  for (int i = 0; i < 20'000; ++i) {
    world.put(carts, expiring_item("near", 1000 + i % 7));
    const auto timer = world.timers().of(carts->id());
    REQUIRE(timer);
    REQUIRE(timer->due <= start_ms + (1000 + i % 7) * 1000 + 1);
    world.remove(carts, {{"id", "near"}});
  }
  stop = true;
  asker.join();
}

TEST_CASE("a requested sweep of one table also deletes due items in the account's other tables", "[reaper]") {
  World world;
  auto carts = expiring_table(world), orders = expiring_table(world, "orders");
  world.database().tables().update(carts, [](Table& table) { table.expiry.kind = ExpiryMode::Kind::manual; });
  for (int i = 0; i < 1000; ++i) world.put(carts, expiring_item(std::to_string(i), 60));
  world.put(orders, expiring_item("a", 60));
  world.clock().set(start_ms + 61'000);
  CHECK(world.database().reaper().sweep(carts) == 1000);
  CHECK(orders->counter(0).items == 0);
  CHECK(world.inconsistency(orders).empty());
}

TEST_CASE("a switch to manual mode ends a running sweep", "[reaper]") {
  World world;
  auto carts = expiring_table(world);
  constexpr std::int64_t count = 30'000;
  for (std::int64_t i = 0; i < count; ++i) world.put(carts, expiring_item(std::to_string(i), 60));
  world.clock().set(start_ms + 61'000);
  std::thread reaper([&] { (void)world.database().reaper().reap_due(); });
  while (carts->expiry_stats().deleted() == 0) std::this_thread::yield();
  world.database().tables().update(carts, [](Table& table) { table.expiry.kind = ExpiryMode::Kind::manual; });
  const std::int64_t left = carts->counter(0).items;
  reaper.join();
  CHECK(left > 0);
  CHECK(carts->counter(0).items == left);
  CHECK(world.database().reaper().sweep(carts) == left);
}

TEST_CASE("an account does not wait for another account's backlog", "[reaper]") {
  World world({.reap = true});
  auto backlog = expiring_table(world);
  Table other = simple_table("mine");
  other.account = "000000000042";
  auto mine = world.create(other);
  world.enable_ttl(mine);
  for (int i = 0; i < 20'000; ++i) world.put(backlog, expiring_item(std::to_string(i), 60));
  world.put(mine, expiring_item("a", 60));
  world.clock().set(start_ms + 60'001);
  world.wake_reaper();
  while (mine->counter(0).items > 0) std::this_thread::yield();
  // The item of the other account was deleted in the first rounds: the reaper deletes a few items of each
  // account in turn.
  CHECK(backlog->counter(0).items > 10'000);
}

TEST_CASE("if TTL is switched off and on during its backfill the new backfill is complete",
          "[reaper][holds]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  for (int i = 0; i < 1000; ++i) world.put(carts, expiring_item(std::to_string(i), 60));
  Catalog& catalog = world.database().catalog_itself();
  const auto set_ttl = [&](std::optional<TimeToLive> ttl) {
    return catalog.update(*carts, [&](Table& table) { table.ttl = std::move(ttl); });
  };
  BackfillWalk older(world.database().catalog_itself(), world.database().write_path(), carts,
                     *set_ttl(TimeToLive{"ttl"}));
  REQUIRE_FALSE(older.step(900));
  set_ttl(std::nullopt);
  BackfillWalk newer(world.database().catalog_itself(), world.database().write_path(), carts,
                     *set_ttl(TimeToLive{"ttl"}));
  REQUIRE_FALSE(newer.step(10));
  CHECK(older.step(1000));  // the older backfill has nothing left to do
  CHECK(carts->description()->ttl->backfilling);
  CHECK(newer.step(1000));
  CHECK_FALSE(carts->description()->ttl->backfilling);
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.advance(start_ms + 61'000) == 1000);
}

TEST_CASE("a backfill that a storage fault interrupts continues automatically", "[reaper]") {
  std::atomic<int> writes_left{1 << 20};
  World world({.reap = false, .write_fails = [&] { return --writes_left < 0; }});
  auto carts = world.create(simple_table("carts"));
  for (int i = 0; i < 1000; ++i) world.put(carts, expiring_item(std::to_string(i), 60));
  writes_left = 4;  // enough for the description and the first items
  world.enable_ttl(carts);
  CHECK(carts->description()->ttl->backfilling);
  writes_left = 1 << 20;
  for (int i = 0; carts->description()->ttl->backfilling && i < 10'000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(carts->description()->ttl->backfilling);
  CHECK(world.inconsistency(carts).empty());
}

}  // namespace mayfly::testing
