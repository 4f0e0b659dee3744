#include "engine/schema/shards.h"

#include <algorithm>
#include <limits>

#include "engine/base/check.h"

namespace mayfly::engine {
namespace {

constexpr std::uint64_t hash_max = std::numeric_limits<std::uint64_t>::max();

Shard new_shard(ShardNumber number, Instant created, std::uint64_t last_sequence) {
  Shard shard;
  shard.number = number;
  shard.created = created;
  shard.first_sequence = shard.oldest_sequence = last_sequence + 1;
  return shard;
}

void close(Shard& shard, Instant now, std::uint64_t last_sequence) {
  shard.closed = now;
  shard.last_sequence = last_sequence;
}

}  // namespace

std::vector<Shard> first_shards(std::uint32_t count, Instant created, std::uint64_t last_sequence) {
  MAYFLY_CHECK(count >= 1 && count <= first_shards_max);
  const std::uint64_t width = hash_max / count;
  std::vector<Shard> shards;
  for (ShardNumber number = 0; number < count; ++number) {
    Shard& shard = shards.emplace_back(new_shard(number, created, last_sequence));
    shard.first_hash = number * width;
    shard.last_hash = number + 1 == count ? hash_max : shard.first_hash + width - 1;
  }
  return shards;
}

Expected<std::vector<Shard>, ReshardRefusal> reshard(Stream& stream, std::optional<ShardNumber> number,
                                                     Resharding how, Instant now,
                                                     std::uint64_t last_sequence) {
  const bool splits = how == Resharding::split;
  std::vector<Shard*> parents;
  std::size_t open = 0;
  for (Shard& shard : stream.shards) {
    open += shard.closed ? 0 : 1;
    if (number ? shard.number == *number : !shard.closed) parents.push_back(&shard);
  }
  if (parents.empty()) return Unexpected{ReshardRefusal::no_such_shard};
  for (const Shard* parent : parents) {
    if (parent->closed) return Unexpected{ReshardRefusal::already_closed};
    if (splits && parent->first_hash == parent->last_hash) return Unexpected{ReshardRefusal::cannot_split};
  }
  if (splits && open + parents.size() > open_shards_max) return Unexpected{ReshardRefusal::too_many_open};
  if (stream.shards.size() + parents.size() * (splits ? 2 : 1) > shards_max)
    return Unexpected{ReshardRefusal::too_many};

  // This number has never been used before: the newest shard is open, and an open shard is never forgotten.
  ShardNumber next_number = stream.shards.back().number + 1;
  std::vector<Shard> children;
  for (Shard* parent : parents) {
    close(*parent, now, last_sequence);
    const auto add = [&](std::uint64_t first_hash, std::uint64_t last_hash) {
      Shard& child =
          children.emplace_back(new_shard(next_number++, std::max(now, parent->created + 1), last_sequence));
      child.parent = {parent->number, parent->created};
      child.first_hash = first_hash;
      child.last_hash = last_hash;
    };
    if (splits) {
      const std::uint64_t middle = parent->first_hash + (parent->last_hash - parent->first_hash) / 2;
      add(parent->first_hash, middle);
      add(middle + 1, parent->last_hash);
    } else {
      add(parent->first_hash, parent->last_hash);
    }
  }
  stream.shards.insert(stream.shards.end(), children.begin(), children.end());
  return children;
}

void close(Stream& stream, Instant now, std::uint64_t last_sequence) {
  stream.disabled = now;
  for (Shard& shard : stream.shards)
    if (!shard.closed) close(shard, now, last_sequence);
}

}  // namespace mayfly::engine
