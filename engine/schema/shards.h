// Creates, reshards and closes the shards of a stream. These functions only change the description; the
// catalog stores the result.
//
// At any time, the open shards of an enabled stream divide all hashes among them, so that each record belongs
// to exactly one shard. All records of a child are later than its parent's. So a reader that reads parents
// before children reads the records of each item in order. DynamoDB splits shards and rolls them over, but
// does not merge them.
//
//   Stream stream = ...;                                          // with one shard, which has number 0
//   auto children = reshard(stream, 0, Resharding::split, now, watermark.published());
//   // shard 0 is closed; 1 has the lower half of its hashes, 2 the upper half
//   children = reshard(stream, std::nullopt, Resharding::roll, now, watermark.published());
//   // shards 1 and 2 are closed; 3 and 4 have their hashes
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

inline constexpr std::uint32_t first_shards_max = 1000;
// The limits on the open shards of a stream and on all its shards, including closed ones, which are forgotten
// after 24 h. They exist because each change of a shard writes the description of all shards.
inline constexpr std::size_t open_shards_max = 2 * first_shards_max;
inline constexpr std::size_t shards_max = 10'000;

// A shard is replaced by one child with the same hashes (roll) or by two children with half of them each
// (split).
enum class Resharding : std::uint8_t { roll, split };

enum class ReshardRefusal : std::uint8_t {
  no_stream,      // the table does not exist, or its stream is not enabled
  no_such_shard,  // the shard never existed or has been forgotten
  already_closed,
  cannot_split,  // the shard has only one hash
  too_many_open,
  too_many,
};

// Returns `count` shards for a new stream, whose records will be later than `last_sequence`.
std::vector<Shard> first_shards(std::uint32_t count, Instant created, std::uint64_t last_sequence);

// Closes an open shard after record `last_sequence`, or all open shards if `number` is nullopt. Adds their
// children to the stream and returns them. If the call is refused, it changes nothing.
Expected<std::vector<Shard>, ReshardRefusal> reshard(Stream& stream, std::optional<ShardNumber> number,
                                                     Resharding how, Instant now,
                                                     std::uint64_t last_sequence);

// Closes the stream and all its open shards.
void close(Stream& stream, Instant now, std::uint64_t last_sequence);

}  // namespace mayfly::engine
