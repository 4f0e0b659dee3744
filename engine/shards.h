// How a stream's shards begin, go on in children, and end. Pure: the catalog stores what comes of it.
//
// At any time the open shards of an enabled stream divide all hashes among them, so that each record has one
// shard. A child's records are all later than its parent's: who reads parents before children reads each
// item's records in order. DynamoDB splits and rolls shards over; it merges none.
//
//   Stream stream = ...;                                          // with one shard, number 0
//   auto children = reshard(stream, 0, Resharding::split, now, watermark.published());
//   // shard 0 is closed; 1 has the lower half of its hashes, 2 the upper half
//   children = reshard(stream, std::nullopt, Resharding::roll, now, watermark.published());
//   // so are 1 and 2; 3 and 4 go on with their hashes
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/table.h"

namespace mayfly::engine {

inline constexpr std::uint32_t first_shards_max = 1000;
// So many come to be open by splits, and so many are remembered, those among them that closed: these are
// forgotten after 24 h. Each change of one writes the description of all.
inline constexpr std::size_t open_shards_max = 2 * first_shards_max;
inline constexpr std::size_t shards_max = 10'000;

enum class Resharding : std::uint8_t { roll, split };  // one child with the same hashes, two with half each

enum class ReshardRefusal : std::uint8_t {
  no_stream,      // the table is gone, or its stream is not enabled
  no_such_shard,  // or it was forgotten
  already_closed,
  cannot_split,  // it has only one hash left
  too_many_open,
  too_many,
};

// `count` shards of a new stream, whose first record will come after `last`.
std::vector<Shard> first_shards(std::uint32_t count, Instant created, std::uint64_t last_sequence);

// Closes an open shard behind `last_sequence`, without a number each that is open, and returns the children,
// which the stream has from now on. Refused, it changes nothing.
Expected<std::vector<Shard>, ReshardRefusal> reshard(Stream& stream, std::optional<ShardNumber> number,
                                                     Resharding how, Instant now,
                                                     std::uint64_t last_sequence);

// Closes the stream and all its open shards.
void close(Stream& stream, Instant now, std::uint64_t last_sequence);

}  // namespace mayfly::engine
