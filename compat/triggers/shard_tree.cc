#include "compat/triggers/shard_tree.h"

#include <utility>

namespace mayfly::compat::triggers {
namespace {

bool ever_had_a_record(const engine::Shard& shard) {
  return !shard.last_sequence || *shard.last_sequence >= shard.first_sequence;
}

}  // namespace

ShardTree::ShardTree(std::shared_ptr<const engine::Stream> stream) : stream_(std::move(stream)) {
  written_ancestors_.reserve(stream_->shards.size());
  // Shards are ordered by number, so parents precede their children.
  for (const engine::Shard& shard : stream_->shards) {
    const engine::Shard* const parent = shard.parent ? find(shard.parent->number) : nullptr;
    written_ancestors_.push_back(parent == nullptr || ever_had_a_record(*parent) ? parent
                                                                                 : written_ancestor(*parent));
  }
}

std::size_t ShardTree::index_of(const engine::Shard& shard) const {
  return static_cast<std::size_t>(&shard - stream_->shards.data());
}

const engine::Shard* ShardTree::written_ancestor(const engine::Shard& shard) const {
  return written_ancestors_[index_of(shard)];
}

std::size_t ShardTree::forgotten() const {
  return stream_->shards.empty() ? 0 : stream_->shards.back().number + 1 - stream_->shards.size();
}

std::shared_ptr<const ShardTree> StreamShards::present() {
  const engine::Lock lock(mutex_);
  auto stream = database_.catalog().share_stream(stream_);
  if (!stream) {
    tree_ = nullptr;
  } else if (!tree_ || &tree_->stream() != stream.get()) {
    tree_ = std::make_shared<const ShardTree>(std::move(stream));
  }
  return tree_;
}

}  // namespace mayfly::compat::triggers
