// Creates, reshards and closes the shards of a stream. These functions only change the description; the
// catalog stores the result.
//
// At any time, the open shards of an enabled stream divide all hashes among themselves, so that each record
// belongs to exactly one shard. All records of a child are later than those of its parent. So a reader that
// reads parents before children reads the records of each item in order. As on AWS, shards can be split and
// rolled over, but not merged.
//
//   Stream stream = ...;                                          // it has one shard, number 0
//   auto children = reshard(stream, 0, Resharding::split, now, watermark.published());
//   // shard 0 is closed; shard 1 has the lower half of its hashes, shard 2 the upper half
//   children = reshard(stream, std::nullopt, Resharding::roll, now, watermark.published());
//   // shards 1 and 2 are closed; shards 3 and 4 have their hashes
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
// Limits on the number of a stream's open shards and on the number of all its shards, which includes closed
// shards until they are forgotten after 24 h. The limits exist because each change to a shard writes the
// description of all shards of the stream.
inline constexpr std::size_t open_shards_max = 2 * first_shards_max;
inline constexpr std::size_t shards_max = 10'000;

// How a shard is replaced: by one child with the same hashes (roll), or by two children with half of the
// hashes each (split).
enum class Resharding : std::uint8_t { roll, split };

enum class ReshardRefusal : std::uint8_t {
  no_stream,      // the table does not exist, or its stream is not enabled
  no_such_shard,  // the shard never existed or has been forgotten
  already_closed,
  cannot_split,  // the shard has only one hash
  too_many_open,
  too_many,
};

// Returns `count` shards for a new stream. All records of the stream will be later than `last_sequence`.
std::vector<Shard> first_shards(std::uint32_t count, Instant created, std::uint64_t last_sequence);

// Closes the open shard with this number, or all open shards if `number` is nullopt. Records after
// `last_sequence` belong to the children, which this function adds to the stream and returns. A call that is
// refused changes nothing.
Expected<std::vector<Shard>, ReshardRefusal> reshard(Stream& stream, std::optional<ShardNumber> number,
                                                     Resharding how, Instant now,
                                                     std::uint64_t last_sequence);

// Closes the stream and all its open shards.
void close(Stream& stream, Instant now, std::uint64_t last_sequence);

}  // namespace mayfly::engine
