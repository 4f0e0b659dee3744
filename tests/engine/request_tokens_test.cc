#include "engine/items/request_tokens.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <rocksdb/perf_context.h>

#include "engine/database.h"
#include "engine/items/item_reader.h"
#include "engine/storage/storage.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

const Scope scope{"000000000000", "us-east-1"};

// Puts an item in a request with a token. Returns false, without writing, if the token was used before.
bool put_once(World& world, const std::shared_ptr<LiveTable>& table, std::string_view token, Item item) {
  Transaction transaction(world.database().write_path(), Cause::user);
  const auto slot = transaction.add(table, key_of(*table->description(), item));
  transaction.use_token(scope, token, "digest");
  REQUIRE(transaction.lock());
  if (transaction.digest_before()) return false;
  transaction.put(slot, std::move(item));
  transaction.commit();
  return true;
}

std::size_t stored_tokens(World& world, char kind) {
  const std::string prefix(1, kind);
  Storage::Iterator iterator(world.database().storage(), prefix, prefix_end(prefix));
  std::size_t count = 0;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) ++count;
  return count;
}

}  // namespace

TEST_CASE("a token is remembered for ten minutes even across a restart", "[request_tokens]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  const auto carts = world.create(simple_table("carts"));
  CHECK(put_once(world, carts, "t", {{"id", "a"}}));
  CHECK_FALSE(put_once(world, carts, "t", {{"id", "b"}}));
  CHECK(put_once(world, carts, "t2", {{"id", "c"}}));

  world.reopen();
  world.advance(start_ms + request_token_ms);
  CHECK_FALSE(put_once(world, world.find("carts"), "t", {{"id", "b"}}));
  CHECK_FALSE(world.get(world.find("carts"), {{"id", "b"}}));
  world.advance(start_ms + request_token_ms + 1);
  CHECK(put_once(world, world.find("carts"), "t", {{"id", "b"}}));
  CHECK_FALSE(put_once(world, world.find("carts"), "t", {{"id", "b"}}));
}

TEST_CASE("a token whose write failed remains unused", "[request_tokens][holds]") {
  bool fails = false;
  World world({.reap = false, .write_fails = [&] { return fails; }});
  const auto carts = world.create(simple_table("carts"));
  fails = true;
  CHECK_THROWS_AS(put_once(world, carts, "t", {{"id", "a"}}), StorageFault);
  fails = false;
  CHECK_FALSE(world.get(carts, {{"id", "a"}}));
  CHECK(put_once(world, carts, "t", {{"id", "a"}}));
}

TEST_CASE("using a new token erases expired tokens", "[request_tokens]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  for (int i = 0; i < 40; ++i) {
    REQUIRE(put_once(world, carts, "old" + std::to_string(i), {{"id", "a"}}));
    world.advance(world.now() + 1);
  }
  CHECK(stored_tokens(world, 'Q') == 40);
  world.advance(world.now() + request_token_ms);
  for (int i = 0; i < 3; ++i) REQUIRE(put_once(world, carts, "new" + std::to_string(i), {{"id", "a"}}));
  CHECK(stored_tokens(world, 'Q') == 3);
  CHECK(stored_tokens(world, 'U') == 3);
}

TEST_CASE("the cost of using a token does not grow with the number of tokens that expired together",
          "[request_tokens]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  for (int i = 0; i < 2000; ++i) REQUIRE(put_once(world, carts, "old" + std::to_string(i), {{"id", "a"}}));
  world.advance(world.now() + request_token_ms + 1);
  // Each use erases sixteen expired tokens, and does not pass the tombstones of earlier uses again.
  std::uint64_t walked_most = 0;
  for (int i = 0; i < 200; ++i) {
    rocksdb::get_perf_context()->Reset();
    REQUIRE(put_once(world, carts, "new" + std::to_string(i), {{"id", "a"}}));
    walked_most = std::max(walked_most, rocksdb::get_perf_context()->internal_delete_skipped_count);
  }
  CHECK(walked_most < 100);
  CHECK(stored_tokens(world, 'Q') == 200);
  CHECK(stored_tokens(world, 'U') == 200);
}

TEST_CASE("expired tokens are erased even if the clock was set back in the meantime", "[request_tokens]") {
  World world;
  const auto use = [&](const std::string& token) {
    Batch batch;
    Database& database = world.database();
    database.write_path().tokens.stage_use(batch, RequestTokens::name_of(scope, token), "digest",
                                           world.now());
    database.storage().write(batch);
  };
  world.advance(start_ms + 3 * request_token_ms);
  use("late");
  REQUIRE(world.database().time_travel().set(
      account, world.database().accounts().of(account).clock().setting(), start_ms));
  use("early");
  world.advance(start_ms + 5 * request_token_ms);
  use("last");
  CHECK(stored_tokens(world, 'Q') == 1);
  CHECK(stored_tokens(world, 'U') == 1);
}

TEST_CASE("get_together returns items in the requested order and nothing for a missing item", "[database]") {
  World world;
  const auto carts = world.create(simple_table("carts"));
  world.put(carts, {{"id", "a"}, {"n", "1"}});
  const std::string a = key_of(*carts->description(), {{"id", "a"}}),
                    b = key_of(*carts->description(), {{"id", "b"}});
  const ItemReader::ItemName names[] = {{carts.get(), b}, {carts.get(), a}};
  const auto items = world.database().reader().get_together(names);
  REQUIRE(items.size() == 2);
  CHECK_FALSE(items[0]);
  CHECK(items[1]->item() == Item{{"id", "a"}, {"n", "1"}});
}

}  // namespace mayfly::testing
