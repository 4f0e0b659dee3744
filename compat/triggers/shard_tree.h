// A stream's shards as triggers read them: a shard's records come after those of its ancestors.
//
//   StreamShards shards(database, stream.id);             // shared by the stream's mappings
//   const auto tree = shards.present();                   // nullptr if the stream was dropped
//   const engine::Shard* shard = tree->find(7);           // nullptr if the shard was dropped
//   tree->written_ancestor(*shard);                       // its records come before the shard's records
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/database.h"
#include "engine/schema/table.h"

namespace mayfly::compat::triggers {

// One version of a stream. Immutable.
class ShardTree {
 public:
  explicit ShardTree(std::shared_ptr<const engine::Stream> stream);

  [[nodiscard]] const engine::Stream& stream() const { return *stream_; }
  [[nodiscard]] const engine::Shard* find(engine::ShardNumber number) const {
    return stream_->find_shard(number);
  }
  // Returns the nearest ancestor that ever had a record, even if all of its records are trimmed. Returns
  // nullptr if there is no such ancestor, or if it or a shard in between was dropped. Takes constant time.
  // Requires: `shard` belongs to this tree.
  [[nodiscard]] const engine::Shard* written_ancestor(const engine::Shard& shard) const;
  // How many shards the stream has dropped so far. Never decreases while the stream keeps its id.
  [[nodiscard]] std::size_t forgotten() const;

 private:
  [[nodiscard]] std::size_t index_of(const engine::Shard& shard) const;

  const std::shared_ptr<const engine::Stream> stream_;
  std::vector<const engine::Shard*> written_ancestors_;  // by index in the stream's shards
};

// Builds the tree of each version of a stream once, for all mappings of the stream. Thread-safe.
class StreamShards {
 public:
  // `database` must outlive this object.
  StreamShards(const engine::Database& database, engine::StreamId stream)
      : database_(database), stream_(stream) {}

  // Returns the current version of the stream; nullptr if the stream was dropped.
  [[nodiscard]] std::shared_ptr<const ShardTree> present();

 private:
  const engine::Database& database_;
  const engine::StreamId stream_;
  engine::Mutex mutex_;
  std::shared_ptr<const ShardTree> tree_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
