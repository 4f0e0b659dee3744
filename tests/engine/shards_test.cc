#include "engine/schema/shards.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/background/history_size.h"
#include "engine/database.h"
#include "engine/storage/key_space.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

constexpr std::uint64_t hash_max = ~std::uint64_t{0};

Table table_with_stream(std::string name) {
  Table table = simple_table(std::move(name));
  table.stream = stream_of(StreamView::new_and_old_images);
  return table;
}

// Returns whether the ranges of the open shards cover all hashes, without gaps or overlaps.
bool divide_all_hashes(const std::vector<Shard>& shards) {
  std::map<std::uint64_t, std::uint64_t> ranges;
  for (const Shard& shard : shards)
    if (!shard.closed) ranges.emplace(shard.first_hash, shard.last_hash);
  std::uint64_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first != next || last < first) return false;
    next = last + 1;
  }
  return next == 0 && !ranges.empty();
}

Stream one_shard() {
  Stream stream;
  stream.shards = first_shards(1, 1000, 41);
  return stream;
}

std::string id_of(const ChangeRecord& record) { return *record.keys.find("id")->get_if<std::string>(); }

// Follows a stream as consumers do: reads parents to their end and then their children, a page at a time.
class Follower {
 public:
  Follower(Database& database, StreamId stream, std::size_t page_records)
      : database_(database), stream_(stream), page_records_(page_records) {}

  // Reads a page of every shard whose parent has ended. Returns whether it read anything new.
  bool read() {
    bool moved = false;
    const Stream stream = *database_.catalog().find_stream(stream_);
    for (const Shard& shard : stream.shards) {
      if (ended_.contains(shard.number)) continue;
      if (shard.parent && !ended_.contains(shard.parent->number)) continue;
      Sequence& next = next_.try_emplace(shard.number, shard.first_sequence).first->second;
      auto page = database_.change_log().read(stream_, shard.number, next, page_records_, 1 << 20);
      next = page.next;
      moved = moved || !page.records.empty() || page.ended || !page.at_end;
      if (page.ended) ended_.insert(shard.number);
      for (ChangeRecord& record : page.records) seen_.push_back({shard.number, std::move(record)});
    }
    return moved;
  }

  struct Seen {
    ShardNumber shard;
    ChangeRecord record;
  };
  const std::vector<Seen>& seen() const { return seen_; }

 private:
  Database& database_;
  const StreamId stream_;
  const std::size_t page_records_;
  std::map<ShardNumber, Sequence> next_;
  std::set<ShardNumber> ended_;
  std::vector<Seen> seen_;
};

}  // namespace

TEST_CASE("the first shards of a stream cover all hashes", "[shards]") {
  for (const std::uint32_t count : {1u, 2u, 3u, 7u, first_shards_max}) {
    const std::vector<Shard> shards = first_shards(count, 1000, 41);
    CHECK(shards.size() == count);
    CHECK(divide_all_hashes(shards));
    CHECK(shards.back().number == count - 1);
    CHECK(shards.back().first_sequence == 42);
    CHECK(shards.back().oldest_sequence == 42);
    CHECK_FALSE(shards.back().parent);
  }
}

TEST_CASE("a shard splits into halves or rolls over to one child and its children start after the shard ends",
          "[shards]") {
  Stream stream = one_shard();
  const auto halves = reshard(stream, 0, Resharding::split, 1000, 50);
  REQUIRE(halves);
  REQUIRE(halves->size() == 2);
  REQUIRE(stream.shards.size() == 3);
  CHECK(stream.shards[0].closed == 1000);
  CHECK(stream.shards[0].last_sequence == 50);
  CHECK(stream.shards[1] == (*halves)[0]);
  CHECK(stream.shards[1].first_hash == 0);
  CHECK(stream.shards[1].last_hash == hash_max / 2);
  CHECK(stream.shards[2].first_hash == hash_max / 2 + 1);
  CHECK(stream.shards[2].last_hash == hash_max);
  CHECK(stream.shards[2].parent == Shard::Parent{0, 1000});
  CHECK(stream.shards[2].created == 1001);  // later than the split even on a frozen clock
  CHECK(stream.shards[2].first_sequence == 51);
  CHECK(stream.open_shard(0).number == 1);
  CHECK(stream.open_shard(hash_max).number == 2);

  const auto child = reshard(stream, 2, Resharding::roll, 5000, 50);  // shard 2 never had a record
  REQUIRE(child);
  REQUIRE(child->size() == 1);
  CHECK((*child)[0].number == 3);
  CHECK((*child)[0].created == 5000);
  CHECK((*child)[0].parent == Shard::Parent{2, 1001});
  CHECK((*child)[0].first_hash == hash_max / 2 + 1);
  CHECK((*child)[0].first_sequence == 51);
  CHECK(stream.open_shard(hash_max).number == 3);
  CHECK(divide_all_hashes(stream.shards));

  close(stream, 6000, 60);
  CHECK(stream.disabled == 6000);
  CHECK(stream.shards[0].last_sequence == 50);
  CHECK(stream.shards[3].last_sequence == 60);
}

TEST_CASE("a shard that is closed or unknown or one hash wide cannot be split", "[shards]") {
  Stream stream = one_shard();
  REQUIRE(reshard(stream, 0, Resharding::split, 1, 50));
  CHECK(reshard(stream, 0, Resharding::split, 1, 50).error() == ReshardRefusal::already_closed);
  CHECK(reshard(stream, 3, Resharding::roll, 1, 50).error() == ReshardRefusal::no_such_shard);
  ShardNumber lowest = 1;
  for (int halved = 1; halved < 64; ++halved) {
    const auto children = reshard(stream, lowest, Resharding::split, 1, 50);
    REQUIRE(children);
    lowest = (*children)[0].number;
  }
  CHECK(stream.find_shard(lowest)->last_hash == 0);
  CHECK(reshard(stream, lowest, Resharding::split, 1, 50).error() == ReshardRefusal::cannot_split);
  CHECK(reshard(stream, lowest, Resharding::roll, 1, 50));
  CHECK(divide_all_hashes(stream.shards));
}

TEST_CASE("a stream's number of open shards and its total number of shards are limited", "[shards]") {
  Stream stream;
  stream.shards = first_shards(first_shards_max, 1000, 41);
  const auto halves = reshard(stream, std::nullopt, Resharding::split, 1000, 50);
  REQUIRE(halves);
  CHECK(halves->size() == open_shards_max);
  CHECK(divide_all_hashes(stream.shards));
  const std::vector<Shard> before = stream.shards;
  CHECK(reshard(stream, std::nullopt, Resharding::split, 1, 50).error() == ReshardRefusal::too_many_open);
  CHECK(reshard(stream, before.back().number, Resharding::split, 1, 50).error() ==
        ReshardRefusal::too_many_open);
  CHECK(stream.shards == before);

  while (stream.shards.size() + open_shards_max <= shards_max)
    REQUIRE(reshard(stream, std::nullopt, Resharding::roll, 1, 50));
  CHECK(reshard(stream, std::nullopt, Resharding::roll, 1, 50).error() == ReshardRefusal::too_many);
  while (stream.shards.size() < shards_max)
    REQUIRE(reshard(stream, stream.shards.back().number, Resharding::roll, 1, 50));
  CHECK(reshard(stream, stream.shards.back().number, Resharding::roll, 1, 50).error() ==
        ReshardRefusal::too_many);
  CHECK(stream.shards.size() == shards_max);
  CHECK(divide_all_hashes(stream.shards));
}

TEST_CASE("concurrent splits do not exceed the limit on open shards", "[shards]") {
  World world({.stream_shards = first_shards_max, .reap = false});
  const auto carts = world.create(table_with_stream("carts"));
  std::atomic<int> split{0}, refused{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < 4; ++caller) {
    threads.emplace_back([&] {
      const auto children = world.database().tables().reshard(carts, std::nullopt, Resharding::split);
      if (children) return void(++split);
      refused += children.error() == ReshardRefusal::too_many_open;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(split == 1);
  CHECK(refused == 3);
  CHECK(carts->description()->stream->shards.size() == 3 * first_shards_max);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("records are in the shard of their partition even after a split and a restart", "[shards]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .stream_shards = 4, .reap = false});
  auto carts = world.create(table_with_stream("carts"));
  const StreamId id = carts->description()->stream->id;
  REQUIRE(carts->description()->stream->shards.size() == 4);
  for (int i = 0; i < 40; ++i) world.put(carts, {{"id", std::to_string(i)}});
  REQUIRE(world.database().tables().reshard(carts, 1, Resharding::split));
  for (int i = 40; i < 80; ++i) world.put(carts, {{"id", std::to_string(i)}});
  carts.reset();
  world.reopen();
  carts = world.find("carts");
  REQUIRE(world.database().tables().reshard(carts, 2, Resharding::roll));
  for (int i = 80; i < 120; ++i) world.put(carts, {{"id", std::to_string(i)}});

  const Stream stream = *carts->description()->stream;
  REQUIRE(stream.shards.size() == 7);
  std::size_t seen = 0;
  for (const Shard& shard : stream.shards) {
    const auto page = world.database().change_log().read(id, shard.number, 0, 1000, 1 << 20);
    CHECK(page.ended == shard.closed.has_value());
    CHECK_FALSE(page.records.empty());
    seen += page.records.size();
    for (const ChangeRecord& record : page.records) {
      const std::uint64_t hash = partition_hash(key_of(*carts->description(), record.keys));
      CHECK(shard.first_hash <= hash);
      CHECK(hash <= shard.last_hash);
      CHECK(record.sequence >= shard.first_sequence);
      if (shard.last_sequence) CHECK(record.sequence <= *shard.last_sequence);
    }
  }
  CHECK(seen == 120);
}

TEST_CASE("a table that has no stream or is dropped has no shard to split", "[shards]") {
  World world;
  auto plain = world.create(simple_table("plain"));
  CHECK(world.database().tables().reshard(plain, 0, Resharding::split).error() == ReshardRefusal::no_stream);
  auto carts = world.create(table_with_stream("carts"));
  world.database().tables().update(carts, [](Table& table) { table.stream.reset(); });
  CHECK(world.database().tables().reshard(carts, 0, Resharding::split).error() == ReshardRefusal::no_stream);
  auto gone = world.create(table_with_stream("gone"));
  world.database().tables().drop(gone);
  CHECK(world.database().tables().reshard(gone, 0, Resharding::split).error() == ReshardRefusal::no_stream);
}

TEST_CASE("a closed shard and its records are forgotten a day after the shard was closed", "[shards]") {
  World world;
  auto carts = world.create(table_with_stream("carts"));
  const StreamId stream = carts->description()->stream->id;
  world.put(carts, {{"id", "a"}});
  world.advance(start_ms + 1000, true);
  REQUIRE(world.database().tables().reshard(carts, 0, Resharding::roll));
  world.put(carts, {{"id", "b"}});

  world.advance(start_ms + day_ms + 1, true);
  auto shards = world.database().catalog().find_stream(stream)->shards;
  REQUIRE(shards.size() == 2);
  CHECK(world.database().change_log().oldest_sequence(stream, 0) ==
        2);  // the shard's record is trimmed, but the shard is still listed
  CHECK(world.database().change_log().read(stream, 0, 2, 10, 1 << 20).ended);

  world.advance(start_ms + day_ms + 1001, true);
  shards = world.database().catalog().find_stream(stream)->shards;
  REQUIRE(shards.size() == 1);
  CHECK(shards[0].number == 1);
  CHECK(shards[0].parent == Shard::Parent{0, start_ms});
  CHECK(shards[0].oldest_sequence == 3);
  CHECK(world.database().change_log().read(stream, 0, 0, 10, 1 << 20).ended);
  // A later change to the table's description does not bring back the closed shard.
  world.database().tables().update(carts, [](Table& table) { table.settings.set("colour", "red"); });
  shards = world.database().catalog().find_stream(stream)->shards;
  REQUIRE(shards.size() == 1);
  CHECK(shards[0].oldest_sequence == 3);
  REQUIRE(world.database().tables().reshard(carts, 1, Resharding::split));
  CHECK(carts->description()->stream->shards.back().number == 3);
}

TEST_CASE("while eight clients write and shards split each record is in one shard and no record is lost",
          "[shards][holds]") {
  const TemporaryDirectory directory;
  const bool syncs = GENERATE(false, true);
  World world(
      {.directory = syncs ? directory.path() : "", .fsync = syncs, .stream_shards = 2, .reap = false});
  auto carts = world.create(table_with_stream("carts"));
  const StreamId stream = carts->description()->stream->id;
  constexpr int writers = 8, partitions = 97;
  const int writes = syncs ? 100 : 2500;

  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < writes; ++i)
        world.put(carts,
                  {{"id", std::to_string(i % partitions)}, {"writer", number(writer)}, {"i", number(i)}});
      --writing;
    });
  }
  // Rolls over and splits the open shards in turn.
  std::atomic<int> resharded{0};
  threads.emplace_back([&] {
    for (int round = 0; writing > 0 && resharded < 60; ++round) {
      const std::vector<Shard> shards = carts->description()->stream->shards;
      const Shard& shard = shards[static_cast<std::size_t>(round) % shards.size()];
      if (shard.closed) continue;
      REQUIRE(world.database().tables().reshard(carts, shard.number,
                                                round % 3 == 0 ? Resharding::split : Resharding::roll));
      ++resharded;
    }
  });
  Follower follower(world.database(), stream, 50);
  while (writing > 0) follower.read();
  for (std::thread& thread : threads) thread.join();
  while (follower.read()) {}

  CHECK(resharded > 0);
  CHECK(follower.seen().size() == static_cast<std::size_t>(writers * writes));
  // All writes differ, so each write has a record.
  // Each record's old image equals the new image of the item's previous record.
  const Stream now = *carts->description()->stream;
  std::map<std::string, Item> latest;
  std::set<Sequence> sequences;
  bool chained = true, in_shard = true;
  for (const auto& [number, record] : follower.seen()) {
    sequences.insert(record.sequence);
    const Shard& shard = *now.find_shard(number);
    const std::uint64_t hash = partition_hash(key_of(*carts->description(), record.keys));
    in_shard = in_shard && shard.first_hash <= hash && hash <= shard.last_hash &&
               record.sequence >= shard.first_sequence &&
               record.sequence <= shard.last_sequence.value_or(record.sequence);
    Item& before = latest[id_of(record)];
    chained = chained && (before.empty() ? !record.old_image : record.old_image == before);
    before = *record.new_image;
  }
  CHECK(sequences.size() == follower.seen().size());
  CHECK(in_shard);
  CHECK(chained);
  CHECK(divide_all_hashes(now.shards));
  CHECK(world.inconsistency(carts).empty());
}

}  // namespace mayfly::testing
