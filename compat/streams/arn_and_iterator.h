// Names of streams and their parts as clients see them: ARNs, shard ids, sequence numbers and shard
// iterators.
//
// Nothing is stored: every name is computed from the stream that it names, so iterators survive a restart and
// use no memory. A name that this file did not produce either does not parse or refers to nothing.
//
//   auto position = parse_sequence_number("100000000000000004300");      // the number of a record
//   ShardIterator iterator{stream_arn(stream), 0, position->after, now};
//   ShardIterator::parse(iterator.print()) == iterator
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat {

inline constexpr engine::Instant iterator_lifetime_ms = 15 * 60 * 1000;

// "arn:aws:dynamodb:us-east-1:000000000000:table/carts/stream/2024-11-18T14:36:44.149"
std::string stream_arn(const engine::Stream& stream);

struct StreamName {
  std::string region, account, table_name, label;
  friend bool operator==(const StreamName&, const StreamName&) = default;
};
// Returns nullopt if the string is malformed. The stream may not exist.
std::optional<StreamName> parse_stream_arn(std::string_view arn);

// "shardId-" created_ms:20 digits "-" 8 hex digits. The id is unique within the stream. A child's id sorts
// after its parent's id.
std::string shard_id(const engine::Stream& stream, const engine::Shard& shard);
std::optional<std::string> parent_shard_id(const engine::Stream& stream, const engine::Shard& shard);
// Returns the stream's shard with this id, or nullptr if it does not exist or has been trimmed.
const engine::Shard* find_shard(const engine::Stream& stream, std::string_view id);

// A sequence number always has 21 decimal digits, so that string order equals numeric order. A shard's
// starting number lies between the numbers of records, so AFTER_SEQUENCE_NUMBER with this number skips
// nothing.
std::string sequence_number(engine::Sequence sequence);
std::string starting_sequence_number(const engine::Shard& shard);
std::optional<std::string> ending_sequence_number(const engine::Shard& shard);  // nullopt: the shard is open

// The position at which reading starts.
struct SequencePosition {
  engine::Sequence at;     // AT_SEQUENCE_NUMBER
  engine::Sequence after;  // AFTER_SEQUENCE_NUMBER
};
std::optional<SequencePosition> parse_sequence_number(std::string_view text);

struct ShardIterator {
  std::string stream_arn;
  engine::ShardNumber shard = 0;
  engine::Sequence next = 0;  // the lowest sequence number that a read may return
  engine::Instant created = 0;
  std::uint32_t last_restore = 0;  // Stream::last_restore when the iterator was created

  // Opaque to clients, except that it begins with the stream's ARN, as on AWS: some clients extract the table
  // name.
  [[nodiscard]] std::string print() const;
  // Returns nullopt if print() did not produce the string.
  static std::optional<ShardIterator> parse(std::string_view text);
  friend bool operator==(const ShardIterator&, const ShardIterator&) = default;
};

// The eventID of a record: 32 hex digits, the same on every read of the record.
std::string event_id(const engine::Stream& stream, engine::Sequence sequence);

}  // namespace mayfly::compat
