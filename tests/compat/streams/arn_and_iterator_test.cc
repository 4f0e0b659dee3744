#include "compat/streams/arn_and_iterator.h"

#include <catch2/catch.hpp>
#include <set>

#include "engine/schema/shards.h"

namespace mayfly::testing {

using namespace compat;

namespace {

engine::Stream carts() {
  engine::Stream stream;
  stream.name = 0x2a;
  stream.account = "000000000042";
  stream.region = "eu-west-1";
  stream.table_name = "carts";
  stream.label = "2024-11-18T14:36:44.149";
  stream.created = 1731940604149;
  stream.shards = engine::first_shards(1, stream.created, 6);
  return stream;
}

TEST_CASE("a stream's ARN is printed from its parts and parsed back") {
  CHECK(stream_arn(carts()) ==
        "arn:aws:dynamodb:eu-west-1:000000000042:table/carts/stream/2024-11-18T14:36:44.149");
  CHECK(parse_stream_arn(stream_arn(carts())) ==
        StreamName{"eu-west-1", "000000000042", "carts", "2024-11-18T14:36:44.149"});
}

TEST_CASE("a malformed stream ARN does not parse") {
  CHECK(!parse_stream_arn(""));
  CHECK(!parse_stream_arn("sdfadfsdfnlfkajakfgjalksfgklasjklasdjfklasdfasdfgasf"));
  CHECK(!parse_stream_arn(
      "xarn:aws:dynamodb:eu-west-1:000000000042:table/carts/stream/2024-11-18T14:36:44.149"));
  CHECK(!parse_stream_arn("arn:aws:dynamodb:eu-west-1:000000000042:table/carts"));
  CHECK(!parse_stream_arn("arn:aws:dynamodb:eu-west-1:000000000042:table/carts/stream/"));
  CHECK(!parse_stream_arn("arn:aws:dynamodb:eu-west-1:42:table/carts/stream/2024-11-18T14:36:44.149"));
  CHECK(!parse_stream_arn("arn:aws:dynamodb::000000000042:table/carts/stream/2024-11-18T14:36:44.149"));
  CHECK(!parse_stream_arn("arn:aws:dynamodb:eu-west-1:000000000042:table/carts/stream/a/b"));
}

TEST_CASE("a shard id has twenty digits of creation time and eight hex digits") {
  // AWS allows a shard id to have 28 to 65 characters.
  CHECK(shard_id(carts(), carts().shards[0]) == "shardId-00000001731940604149-0000002a");
}

TEST_CASE("a shard id identifies its shard and sorts after its parent's id") {
  engine::Stream stream = carts();
  stream.shards = engine::first_shards(engine::first_shards_max, stream.created, 6);
  REQUIRE(engine::reshard(stream, 3, engine::Resharding::split, stream.created, 9));
  REQUIRE(
      engine::reshard(stream, engine::first_shards_max, engine::Resharding::roll, stream.created - 5000, 9));
  std::set<std::string> ids;
  for (const engine::Shard& shard : stream.shards) {
    const std::string id = shard_id(stream, shard);
    ids.insert(id);
    CHECK(find_shard(stream, id) == &shard);
    const auto parent = parent_shard_id(stream, shard);
    CHECK(parent.has_value() == shard.parent.has_value());
    if (parent) {
      CHECK(*parent < id);
      CHECK(find_shard(stream, *parent) == stream.find_shard(shard.parent->number));
    }
  }
  CHECK(ids.size() == stream.shards.size());
  CHECK(!find_shard(stream, "shardId-00000001731940604149-0000002b"));
}

TEST_CASE("sequence numbers have 21 digits and sort like the engine's numbers") {
  CHECK(sequence_number(0) == "100000000000000000100");
  CHECK(sequence_number(41) == "100000000000000004200");
  CHECK(sequence_number(42) > sequence_number(41));
  CHECK(sequence_number(99'999'999'999) > sequence_number(9'999'999'999));
}

TEST_CASE(
    "AT_SEQUENCE_NUMBER starts at the given record and AFTER_SEQUENCE_NUMBER starts at the next record") {
  auto position = parse_sequence_number(sequence_number(41));
  REQUIRE(position);
  CHECK(position->at == 41);
  CHECK(position->after == 42);
}

TEST_CASE("reading at or after a shard's starting sequence number skips no record") {
  engine::Shard shard;
  for (std::uint64_t first : {0, 1, 7}) {
    shard.first_sequence = first;
    auto position = parse_sequence_number(starting_sequence_number(shard));
    REQUIRE(position);
    CHECK(position->at == first);
    CHECK(position->after == first);
    CHECK(starting_sequence_number(shard) < sequence_number(first));
  }
}

TEST_CASE(
    "an open shard has no ending sequence number and a closed shard ends with its last record's number") {
  engine::Shard shard = carts().shards[0];
  CHECK(!ending_sequence_number(shard));
  shard.last_sequence = 9;
  CHECK(ending_sequence_number(shard) == sequence_number(9));
  shard.last_sequence = 6;  // closed before its first record
  CHECK(ending_sequence_number(shard) == starting_sequence_number(shard));
}

TEST_CASE("malformed and impossible sequence numbers do not parse") {
  const auto last = parse_sequence_number("118446744073709551600");  // the highest possible sequence number
  REQUIRE(last);
  CHECK(sequence_number(last->at) == "118446744073709551600");
  CHECK(!parse_sequence_number("118446744073709551601"));  // no number would be left for the next record
  CHECK(!parse_sequence_number("118446744073709551615"));
  CHECK(!parse_sequence_number(""));
  CHECK(!parse_sequence_number("sdfsafglldfngjdafnasdflgnaldklkafdsgklna"));
  CHECK(!parse_sequence_number("-00000000000000004200"));
  CHECK(!parse_sequence_number("000000000000000000000"));
  CHECK(!parse_sequence_number("100000000000000000000"));     // below the first sequence number
  CHECK(!parse_sequence_number("200000000000000004200"));     // never assigned
  CHECK(!parse_sequence_number("1000000000000000042001"));    // 22 digits
  CHECK(!parse_sequence_number("199999999999999999999"));     // does not fit in 64 bits
  CHECK(parse_sequence_number("0000100000000000000004200"));  // leading zeros are ignored
}

TEST_CASE("a printed iterator parses back and begins with its stream's ARN") {
  ShardIterator iterator{stream_arn(carts()), 0, 42, 1731940604149};
  std::string text = iterator.print();
  CHECK(text.starts_with(
      "arn:aws:dynamodb:eu-west-1:000000000042:table/carts/stream/2024-11-18T14:36:44.149|1|"));
  CHECK(ShardIterator::parse(text) == iterator);
}

TEST_CASE("an iterator that Mayfly did not print does not parse") {
  std::string text = ShardIterator{stream_arn(carts()), 0, 42, 1731940604149}.print();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string edited = text;
    edited[i] = edited[i] == '1' ? '2' : '1';
    INFO(edited);
    CHECK(!ShardIterator::parse(edited));
    CHECK(!ShardIterator::parse(text.substr(0, i)));
  }
  CHECK(!ShardIterator::parse(text + "00"));
  CHECK(!ShardIterator::parse("sdfsdfsgagaddafgagasgasgasdfasdfasdfasdfasdgasdasdgasdg"));
}

TEST_CASE("an event id has 32 hex digits and is determined by stream and sequence number") {
  CHECK(event_id(carts(), 7) == event_id(carts(), 7));
  CHECK(event_id(carts(), 7).size() == 32);
  CHECK(event_id(carts(), 7).find_first_not_of("0123456789abcdef") == std::string::npos);
  engine::Stream later = carts();
  later.label = "2024-11-18T14:36:44.150";
  CHECK(event_id(carts(), 7) != event_id(later, 7));
  std::set<std::string> ids;
  for (engine::Sequence sequence = 0; sequence < 1000; ++sequence) ids.insert(event_id(carts(), sequence));
  CHECK(ids.size() == 1000);
}

}  // namespace

}  // namespace mayfly::testing
