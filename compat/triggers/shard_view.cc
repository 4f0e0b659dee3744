#include "compat/triggers/shard_view.h"

#include "compat/streams/arn_and_iterator.h"

namespace mayfly::compat::triggers {

std::vector<ShardView> shards_of(const engine::Stream& stream) {
  std::vector<ShardView> views;
  for (const engine::Shard& shard : stream.shards) {
    ShardView view{.number = shard.number,
                   .id = shard_id(stream, shard),
                   .oldest = shard.oldest_sequence,
                   .closed = shard.closed.has_value()};
    if (shard.parent) view.parents.push_back(shard.parent->number);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace mayfly::compat::triggers
