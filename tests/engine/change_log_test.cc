#include "engine/tables/change_log.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <thread>

#include "engine/background/history_size.h"
#include "engine/values/item_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Table streamed(std::string name, StreamView view = StreamView::new_and_old_images) {
  Table table = simple_table(std::move(name));
  table.stream = stream_of(view);
  return table;
}

std::string stored(const Item& item) {
  std::string bytes;
  encode_item(item, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("a record has only the images that the stream's view type includes", "[change_log]") {
  const Item before{{"id", "a"}, {"n", number(1)}}, after{{"id", "a"}, {"n", number(22)}};
  const auto record = [&](StreamView view) {
    std::string bytes =
        encode_record(Cause::time_to_live, view, {{"id", "a"}}, stored(before), stored(after));
    set_record_created(bytes, 17);
    return decode_record(5, bytes);
  };
  const ChangeRecord whole = record(StreamView::new_and_old_images);
  CHECK(whole.sequence == 5);
  CHECK(whole.created == 17);
  CHECK(whole.kind == ChangeRecord::Kind::modify);
  CHECK(whole.cause == Cause::time_to_live);
  CHECK(whole.keys == Item{{"id", "a"}});
  CHECK(whole.old_image == before);
  CHECK(whole.new_image == after);
  CHECK(whole.size_bytes == 3 + 6 + 6);
  CHECK_FALSE(record(StreamView::new_image).old_image);
  CHECK(record(StreamView::new_image).new_image == after);
  CHECK_FALSE(record(StreamView::old_image).new_image);
  CHECK(record(StreamView::old_image).old_image == before);
  CHECK(record(StreamView::keys_only).size_bytes == 3);
  CHECK(record(StreamView::keys_only).kind == ChangeRecord::Kind::modify);
}

TEST_CASE("a page of a stream is limited by record count and by bytes", "[change_log]") {
  World world;
  auto carts = world.create(streamed("carts"));
  const StreamId stream = carts->description()->stream->id;
  for (int i = 0; i < 5; ++i) world.put(carts, {{"id", std::to_string(i)}});

  auto page = world.database().change_log().read(stream, 0, 0, 2, 1 << 20);
  REQUIRE(page.records.size() == 2);
  CHECK_FALSE(page.at_end);
  page = world.database().change_log().read(stream, 0, page.next, 3, 1 << 20);
  REQUIRE(page.records.size() == 3);
  CHECK(page.records[2].new_image == Item{{"id", "4"}});
  page = world.database().change_log().read(stream, 0, page.next, 3, 1 << 20);
  CHECK(page.records.empty());
  CHECK(page.at_end);
  CHECK(page.next == world.database().watermark().published() + 1);

  // A page has at least one record.
  CHECK(world.database().change_log().read(stream, 0, 0, 100, 1).records.size() == 1);
  world.put(carts, {{"id", "5"}});
  CHECK(world.database().change_log().read(stream, 0, page.next, 3, 1 << 20).records.size() == 1);
}

TEST_CASE("a closed stream stays readable and the next stream starts after its last record", "[change_log]") {
  World world;
  auto carts = world.create(streamed("carts"));
  const Stream first = *carts->description()->stream;
  world.put(carts, {{"id", "a"}});
  world.database().tables().update(carts, [](Table& table) { table.stream.reset(); });
  world.put(carts, {{"id", "b"}});
  world.database().tables().update(carts,
                                   [](Table& table) { table.stream = stream_of(StreamView::keys_only); });
  world.put(carts, {{"id", "c"}});

  const Stream second = *carts->description()->stream;
  const auto closed =
      world.database().catalog().find_stream({"000000000000", "us-east-1"}, "carts", first.label);
  REQUIRE(closed);
  REQUIRE(closed->shards.size() == 1);
  CHECK(closed->shards[0].last_sequence == first.shards[0].first_sequence);
  CHECK(closed->shards[0].closed == start_ms);
  CHECK(closed->disabled == start_ms);
  CHECK(second.shards[0].first_sequence == *closed->shards[0].last_sequence + 1);
  CHECK(world.records(first.id).size() == 1);
  REQUIRE(world.records(second.id).size() == 1);
  CHECK(world.records(second.id)[0].keys == Item{{"id", "c"}});
  CHECK(world.records(second.id)[0].sequence == second.shards[0].first_sequence);

  world.database().tables().drop(carts);
  CHECK(world.records(second.id).size() == 1);
  CHECK(world.database().catalog().streams(Scope{"000000000000", "us-east-1"}).size() == 2);
}

TEST_CASE("records and closed streams are deleted after a day of stream time", "[change_log]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  auto carts = world.create(streamed("carts"));
  auto gone = world.create(streamed("gone"));
  const StreamId stream = carts->description()->stream->id;
  world.put(carts, {{"id", "a"}});  // number 1
  world.put(gone, {{"id", "x"}});
  world.database().tables().drop(gone);
  world.advance(start_ms + 1000, true);
  world.put(carts, {{"id", "b"}});

  world.advance(start_ms + day_ms, true);
  CHECK(world.records(stream).size() == 2);
  world.advance(start_ms + day_ms + 1, true);
  REQUIRE(world.records(stream).size() == 1);
  CHECK(world.database().change_log().oldest_sequence(stream, 0) == 2);
  CHECK(world.database().catalog().streams(Scope{"000000000000", "us-east-1"}).size() == 1);

  world.advance(start_ms + 3 * day_ms, true);
  CHECK(world.records(stream).empty());
  const Sequence last = world.database().watermark().published();
  CHECK(last == 3);
  CHECK(world.database().change_log().oldest_sequence(stream, 0) == 4);

  // Sequence numbers are not reused after a restart, even if all records are trimmed.
  carts.reset();
  gone.reset();
  world.reopen();
  CHECK(world.database().watermark().published() == last);
}

TEST_CASE("a stream lists its shards that have records at or after a given sequence number", "[change_log]") {
  World world;
  auto carts = world.create(streamed("carts"));
  auto other = world.create(streamed("other"));
  const StreamId stream = carts->description()->stream->id;
  const auto written = [&](Sequence from) {
    return world.database().change_log().shards_with_records(stream, from);
  };
  const auto roll = [&] {
    REQUIRE(world.database().tables().reshard(carts, std::nullopt, Resharding::roll));
  };
  using Numbers = std::vector<ShardNumber>;
  CHECK(written(0).empty());
  world.put(other, {{"id", "x"}});  // number 1
  CHECK(written(0).empty());
  world.put(carts, {{"id", "a"}});  // 2, in shard 0
  world.put(carts, {{"id", "b"}});  // 3
  roll();
  roll();
  world.put(carts, {{"id", "c"}});  // 4, in shard 2
  CHECK(written(0) == Numbers{0, 2});
  CHECK(written(3) == Numbers{0, 2});
  CHECK(written(4) == Numbers{2});
  CHECK(written(5).empty());
  world.advance(start_ms + day_ms + 1, true);  // trims all records and forgets shards 0 and 1
  CHECK(written(0).empty());
  world.put(carts, {{"id", "d"}});
  CHECK(written(0) == Numbers{2});
}

TEST_CASE("a change to a stream's shards creates a new Stream object", "[change_log]") {
  World world;
  auto carts = world.create(streamed("carts"));
  const StreamId stream = carts->description()->stream->id;
  const auto first = world.database().catalog().share_stream(stream);
  REQUIRE(first);
  world.put(carts, {{"id", "a"}});
  CHECK(world.database().catalog().share_stream(stream) == first);
  REQUIRE(world.database().tables().reshard(carts, std::nullopt, Resharding::split));
  const auto second = world.database().catalog().share_stream(stream);
  CHECK(second != first);
  CHECK(first->shards.size() == 1);
  CHECK(second->shards.size() == 3);
  CHECK(second->find_shard(2) == &second->shards[2]);
  CHECK(second->find_shard(3) == nullptr);
  CHECK(world.database().catalog().share_stream(stream + 100) == nullptr);
}

TEST_CASE("a clock jump does not trim the records that it causes", "[change_log]") {
  World world;
  auto carts = world.create(streamed("carts"));
  world.enable_ttl(carts);
  const StreamId stream = carts->description()->stream->id;
  world.put(carts, {{"id", "a"}, {"ttl", number(start_seconds + 60)}});
  world.advance(start_ms + 30 * day_ms);
  CHECK(world.records(stream).size() == 2);
}

TEST_CASE("a consumer that follows a stream sees every record exactly once and in order per item",
          "[change_log][holds]") {
  const TemporaryDirectory directory;
  const bool syncs = GENERATE(false, true);
  World world({.directory = syncs ? directory.path() : "", .fsync = syncs, .reap = false});
  auto carts = world.create(streamed("carts"));
  const StreamId stream = carts->description()->stream->id;
  constexpr int writers = 4;
  const int writes = syncs ? 100 : 1000;

  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < writes; ++i)
        world.put(carts, {{"id", std::to_string(i % 7)}, {"writer", number(writer)}, {"i", number(i)}});
      --writing;
    });
  }

  std::vector<ChangeRecord> seen;
  Sequence next = 0;
  for (bool last_look = false;;) {
    const auto page = world.database().change_log().read(stream, 0, next, 10, 1 << 20);
    seen.insert(seen.end(), page.records.begin(), page.records.end());
    next = page.next;
    if (!page.at_end) continue;
    if (last_look) break;
    last_look = writing == 0;
  }
  for (std::thread& thread : threads) thread.join();

  // All writes differ, so each write has a record.
  // Each record's old image equals the new image of the item's previous record.
  CHECK(seen.size() == static_cast<std::size_t>(writers * writes));
  std::map<std::string, Item> latest;
  bool in_order = true, chained = true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    in_order = in_order && (i == 0 || seen[i].sequence == seen[i - 1].sequence + 1);
    Item& before = latest[*seen[i].keys.find("id")->get_if<std::string>()];
    chained = chained && (before.empty() ? !seen[i].old_image : seen[i].old_image == before);
    before = *seen[i].new_image;
  }
  CHECK(in_order);
  CHECK(chained);
  CHECK(world.inconsistency(carts).empty());
}

}  // namespace mayfly::testing
