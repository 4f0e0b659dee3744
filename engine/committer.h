// The commit section: gives sequence numbers, writes the batch, counts, publishes and tells, in that order,
// one after the other. So a reader who stops at `published()` sees every record below it and none appears
// there later.
//
// Old versions of items (history.h) have the number of their write's last record; a write without records
// takes a number for them, which no record has.
//
// Where a write has to reach the disk (fsync), those who wait share one: the first in the queue takes the
// others' batches along. Elsewhere sharing would only add hand-overs: a write takes 5 us.
//
// A commit that throws has changed nothing: neither counters nor the watermark, nor, after a reopening,
// storage.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/change_feed.h"
#include "engine/change_log.h"
#include "engine/clock.h"
#include "engine/item_version.h"
#include "engine/key_space.h"
#include "engine/mutex.h"
#include "engine/replica_log.h"
#include "engine/storage.h"

namespace mayfly::engine {

// What one transaction wants to be written.
struct StagedWrite {
  struct Record {
    StreamId stream;
    ShardNumber shard;
    std::string bytes;      // change_log.h's; its creation time is filled in at commit
    Sequence sequence = 0;  // given at commit
  };
  // What an item was until then. The key and the item are the transaction's, and outlive it.
  struct Version {
    TableId table;
    std::string_view item_key;
    std::optional<std::string_view> item;  // nothing: it was not there
    [[nodiscard]] std::size_t bytes() const {
      return version_key_bytes(item_key) + version_head_bytes + (item ? item->size() : 0);
    }
  };
  struct Count {
    Counter* counter;
    TableId table;
    IndexId index;
    std::int64_t items, bytes;  // differences
  };

  const Clock* clock = nullptr;  // the account's
  Instant at = 0;                // by it: given at commit
  Batch batch;
  std::vector<Record> records;
  boost::container::small_vector<Version, 1> versions;
  boost::container::small_vector<Count, 4> counts;
  std::vector<ReplicaWrite> replica_writes;  // of global tables; what they view outlives the commit
  const ChangeSource* source = nullptr;      // what the feed is told of it

  void count(const LiveTable& table, IndexId index, std::int64_t items, std::int64_t bytes) {
    if (items != 0 || bytes != 0) counts.push_back({&table.counter(index), table.id(), index, items, bytes});
  }
};

class Committer {
 public:
  // `last`: the last sequence number that was ever given.
  Committer(Storage& storage, Watermark& watermark, Sequence last)
      : storage_(storage), watermark_(watermark) {
    watermark_.move_to(last);
  }

  void commit(StagedWrite& write);
  // Whether a commit is under way that takes long, so that another would wait for it.
  [[nodiscard]] bool is_busy() const { return busy_.load(std::memory_order_relaxed); }
  [[nodiscard]] ChangeFeed& feed() { return feed_; }

 private:
  struct Waiting {
    StagedWrite* write;
    bool done = false;
    std::exception_ptr fault;
  };

  void commit_shared(StagedWrite& write);
  void commit_group(std::span<StagedWrite* const> group) REQUIRES(commit_);

  Storage& storage_;
  Watermark& watermark_;  // moves under commit_
  Mutex commit_;
  Batch joined_ GUARDED_BY(commit_);
  std::atomic<bool> busy_{false};  // moves under commit_
  ChangeFeed feed_{commit_};

  Mutex queue_mutex_;
  Condition queue_moved_;
  std::deque<Waiting*> queue_ GUARDED_BY(queue_mutex_);
};

}  // namespace mayfly::engine
