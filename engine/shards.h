// How a stream's shards begin, go on in children, and end. Pure: the catalog stores what comes of it.
//
// At any time the open shards of an enabled stream divide all hashes among them, so that each record has one
// shard. A child's records are all later than its parent's: who reads parents before children reads each
// item's records in order. DynamoDB splits and rolls shards over; it merges none.
//
//   Stream stream = ...;                                          // with one shard, number 0
//   auto children = reshard(stream, 0, Resharding::split, now, watermark.published());
//   // shard 0 is closed; 1 has the lower half of its hashes, 2 the upper half
#pragma once

#include <cstdint>
#include <vector>

#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/table.h"

namespace mayfly::engine {

inline constexpr std::uint32_t first_shards_max = 1000;

enum class Resharding : std::uint8_t { roll, split };  // one child with the same hashes, two with half each

enum class ReshardRefusal : std::uint8_t {
  no_stream,      // the table is gone, or its stream is not enabled
  no_such_shard,  // or it was forgotten
  already_closed,
  cannot_split,  // it has only one hash left
};

// `count` shards of a new stream, whose first record will come after `last`.
std::vector<Shard> first_shards(std::uint32_t count, Instant created, std::uint64_t last_sequence);

// Closes an open shard behind `last_sequence` and returns its children, which the stream has from now on.
Expected<std::vector<Shard>, ReshardRefusal> reshard(Stream& stream, ShardNumber number, Resharding how,
                                                     Instant now, std::uint64_t last_sequence);

// Closes the stream and all its open shards.
void close(Stream& stream, Instant now, std::uint64_t last_sequence);

}  // namespace mayfly::engine
