// Streams as their readers name them: ARNs, shard ids, sequence numbers and shard iterators.
//
// Nothing here is kept anywhere: each name is computed from the stream it names, so that iterators survive
// a restart and cost no memory. A name that was not printed here does not parse, or names nothing.
//
//   auto position = parse_sequence_number("100000000000000004300");      // of a record
//   ShardIterator iterator{stream_arn(stream), 0, position->after, now};
//   ShardIterator::parse(iterator.print()) == iterator
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/change_log.h"
#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::compat {

inline constexpr engine::Instant iterator_lifetime_ms = 15 * 60 * 1000;

// "arn:aws:dynamodb:us-east-1:000000000000:table/carts/stream/2024-11-18T14:36:44.149"
std::string stream_arn(const engine::Stream& stream);

struct StreamName {
  std::string region, account, table_name, label;
  friend bool operator==(const StreamName&, const StreamName&) = default;
};
// Nothing: the text is malformed. What parses need not exist.
std::optional<StreamName> parse_stream_arn(std::string_view arn);

// "shardId-" created_ms:20 digits "-" 8 hex digits. Unique in the stream; a child's id sorts after its
// parent's.
std::string shard_id(const engine::Stream& stream, const engine::Shard& shard);
std::optional<std::string> parent_shard_id(const engine::Stream& stream, const engine::Shard& shard);
// The stream's shard of that id; nullptr: none, or it is forgotten.
const engine::Shard* find_shard(const engine::Stream& stream, std::string_view id);

// Always 21 decimal digits, so that they sort alike as text and as numbers. A shard's own limits lie
// between records' numbers: AFTER_SEQUENCE_NUMBER with the starting one skips nothing.
std::string sequence_number(engine::Sequence sequence);
std::string starting_sequence_number(const engine::Shard& shard);
std::optional<std::string> ending_sequence_number(const engine::Shard& shard);  // nothing: it is open

// Where reading begins.
struct SequencePosition {
  engine::Sequence at;     // AT_SEQUENCE_NUMBER
  engine::Sequence after;  // AFTER_SEQUENCE_NUMBER
};
std::optional<SequencePosition> parse_sequence_number(std::string_view text);

struct ShardIterator {
  std::string stream_arn;
  engine::ShardNumber shard = 0;
  engine::Sequence next = 0;  // the first sequence that it may return
  engine::Instant created = 0;
  std::uint32_t last_restore = 0;  // of the stream when the iterator was made: Stream::last_restore

  // Opaque to clients, but begins with the stream's ARN, as AWS's do (some read the table's name from it).
  [[nodiscard]] std::string print() const;
  // Nothing: print() did not print this.
  static std::optional<ShardIterator> parse(std::string_view text);
  friend bool operator==(const ShardIterator&, const ShardIterator&) = default;
};

// A record's eventID: 32 hex digits, the same whenever and by whomever the record is read.
std::string event_id(const engine::Stream& stream, engine::Sequence sequence);

}  // namespace mayfly::compat
