#include "engine/items/departed.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/background/reaper.h"
#include "engine/database.h"
#include "engine/items/cursor.h"
#include "engine/items/failpoints.h"
#include "engine/items/item_reader.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::shared_ptr<LiveTable> departed_carts(World& world) {
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::new_and_old_images);
  description.indexes = {global_index("by_user", "user"), local_index("by_day", "day")};
  auto table = world.create(description);
  world.enable_ttl(table);
  return table;
}

Item cart_expiring(const std::string& id, std::int64_t in_seconds) {
  return {{"id", id}, {"user", "u"}, {"day", "mon"}, {"ttl", number(start_seconds + in_seconds)}};
}

// Returns each stream record as text, with its time, and with "ttl" if the record is about an expired item
// that the service deleted: "INSERT a@0", "REMOVE a@60001 ttl".
std::vector<std::string> history(World& world, const std::shared_ptr<LiveTable>& table) {
  std::vector<std::string> result;
  for (const ChangeRecord& record : world.records(table->description()->stream->id)) {
    constexpr const char* kinds[] = {"INSERT ", "MODIFY ", "REMOVE "};
    result.push_back(kinds[static_cast<int>(record.kind)] + *record.keys.find("id")->get_if<std::string>() +
                     "@" + std::to_string(record.created - start_ms) +
                     (record.cause == Cause::time_to_live ? " ttl" : ""));
  }
  return result;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("no read sees a due item whether or not the reaper has deleted the item", "[departed][holds]") {
  World world;  // without a reaper
  auto carts = departed_carts(world);
  world.put(carts, cart_expiring("a", 60));
  world.put(carts, cart_expiring("stays", 600));
  const std::string key = key_of(*carts->description(), {{"id", "a"}});

  world.clock().set(start_ms + 60'000);
  CHECK(world.get(carts, {{"id", "a"}}) == cart_expiring("a", 60));
  CHECK(world.all(carts).size() == 2);

  world.clock().set(start_ms + 60'001);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  const ItemReader::ItemName names[] = {{carts.get(), key}};
  CHECK_FALSE(world.database().reader().get_together(names)[0]);
  for (const IndexId index : {0, 1, 2})
    CHECK(world.all(carts, index) == std::vector<Item>{cart_expiring("stays", 600)});
  Cursor backward(world.database().reader(), *carts, {.forward = false});
  REQUIRE(backward.next());
  CHECK(backward.item().item() == cart_expiring("stays", 600));
  CHECK_FALSE(backward.next());

  // Everything is still stored: only the deletion is late.
  CHECK(history(world, carts) == Strings{"INSERT a@0", "INSERT stays@0"});
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.database().reaper().reap_due() == 1);
  CHECK(history(world, carts).back() == "REMOVE a@60001 ttl");
}

TEST_CASE("a write to an expired item first deletes it as the service", "[departed][holds]") {
  World world;
  auto carts = departed_carts(world);
  world.put(carts, cart_expiring("a", 60));
  world.put(carts, cart_expiring("b", 60));
  world.clock().set(start_ms + 61'000);
  {
    Transaction transaction(world.database().write_path(), Cause::user);
    const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", "a"}}));
    REQUIRE(transaction.lock());
    CHECK(transaction.old_item(slot) == nullptr);
    // The item is deleted even though this transaction does not commit.
  }
  CHECK(history(world, carts).back() == "REMOVE a@61000 ttl");
  world.put(carts, cart_expiring("b", 600));
  world.remove(carts, {{"id", "a"}});
  CHECK(history(world, carts) ==
        Strings{"INSERT a@0", "INSERT b@0", "REMOVE a@61000 ttl", "REMOVE b@61000 ttl", "INSERT b@61000"});
  CHECK(world.inconsistency(carts).empty());
  CHECK(carts->expiry_stats().deleted() == 2);
  CHECK(carts->expiry_stats().lag_ms_max() == 999);
  CHECK(world.database().reaper().reap_due() == 0);
}

TEST_CASE("an item that is already due when it is written is never visible even on a frozen clock",
          "[departed][holds]") {
  World world({.reap = true});
  auto carts = departed_carts(world);
  REQUIRE(world.database().time_travel().set(account, {ClockSetting::Mode::frozen}, std::nullopt));
  for (int i = 0; i < 500; ++i) {
    const std::string id = std::to_string(i);
    world.put(carts, cart_expiring(id, -1));
    REQUIRE_FALSE(world.get(carts, {{"id", id}}));
    // Both records exist when the write returns.
    REQUIRE(world.records(carts->description()->stream->id).size() == 2u * static_cast<unsigned>(i) + 2);
    REQUIRE(carts->counter(0).items == 0);
  }
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("the reaper deletes an item that was already due when written if the item's first deletion fails",
          "[departed]") {
  int writes_left = 1 << 20;
  World world({.reap = false, .write_fails = [&] { return --writes_left < 0; }});
  auto carts = departed_carts(world);
  writes_left = 1;
  world.put(carts, cart_expiring("a", -1));
  writes_left = 1 << 20;
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(carts->counter(0).items == 1);
  CHECK(world.database().reaper().reap_due() == 1);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("in aws and manual modes a due item stays visible until its deletion fires", "[departed]") {
  World world;
  auto carts = departed_carts(world);
  const auto set_mode = [&](ExpiryMode mode) {
    world.database().tables().update(carts, [&](Table& table) { table.expiry = mode; });
  };
  set_mode({.kind = ExpiryMode::Kind::aws, .delay_ms_min = 1000, .delay_ms_max = 1000});
  world.put(carts, cart_expiring("a", 60));
  world.clock().set(start_ms + 61'000);
  CHECK(world.get(carts, {{"id", "a"}}));
  world.put(carts, cart_expiring("due", 0));
  CHECK(world.get(carts, {{"id", "a"}}));
  world.clock().set(start_ms + 61'001);
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));

  set_mode({.kind = ExpiryMode::Kind::manual});
  CHECK(world.get(carts, {{"id", "a"}}));
  world.clock().set(start_ms + 3600'000);
  CHECK(world.get(carts, {{"id", "a"}}));
  set_mode({});
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
}

TEST_CASE("an item that a failpoint holds can be read and renewed", "[departed][failpoints]") {
  World world;
  auto carts = departed_carts(world);
  world.put(carts, cart_expiring("a", 60));
  const std::string key = key_of(*carts->description(), {{"id", "a"}});
  Failpoints& failpoints = world.database().failpoints();
  failpoints.arm(carts, key, {{"id", "a"}});
  world.clock().set(start_ms + 61'000);
  CHECK(world.get(carts, {{"id", "a"}}) == cart_expiring("a", 60));
  CHECK(world.database().reaper().reap_due() == 0);
  Item renewed = cart_expiring("a", 600);
  world.put(carts, renewed);
  REQUIRE(failpoints.release(*carts, key));
  CHECK(world.database().reaper().reap_due() == 0);
  CHECK(world.get(carts, {{"id", "a"}}) == renewed);
  CHECK(history(world, carts) == Strings{"INSERT a@0", "MODIFY a@61000"});
}

TEST_CASE("reads never see a due item while the reaper is behind", "[departed][holds]") {
  World world({.reap = true});
  auto carts = departed_carts(world);
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) world.put(carts, cart_expiring(std::to_string(i), 60));
  world.clock().set(start_ms + 60'001);
  world.wake_reaper();  // setting the host's manual clock does not wake the reaper
  int seen = 0;
  do {
    seen += static_cast<int>(world.all(carts).size() + world.all(carts, 1).size());
    for (int i = 0; i < 100; ++i) seen += world.get(carts, {{"id", std::to_string(i * 200)}}).has_value();
  } while (carts->counter(0).items > 0);
  CHECK(seen == 0);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a read pauses after skipping many expired items and continues where it stopped", "[departed]") {
  World world;
  auto carts = departed_carts(world);
  constexpr std::size_t count = 3 * Cursor::departed_max;
  for (std::size_t i = 0; i < count; ++i) world.put(carts, cart_expiring(std::to_string(i), 60));
  world.put(carts, cart_expiring("stays", 600));
  world.clock().set(start_ms + 60'001);
  Cursor cursor(world.database().reader(), *carts, {});
  std::size_t pauses = 0, items = 0;
  while (cursor.next() || cursor.paused()) {
    if (cursor.paused()) {
      ++pauses;
      CHECK_FALSE(cursor.item().item() == cart_expiring("stays", 600));
    } else {
      ++items;
    }
  }
  CHECK(pauses >= 2);
  CHECK(items == 1);
}

}  // namespace mayfly::testing
