// The commit section runs one commit after another. Each commit assigns sequence numbers, writes the batch,
// updates the counters, publishes the new watermark and notifies the change feed, in that order. A reader
// that stops at `published()` therefore sees every record up to that number, and no record appears at or
// below that number later.
//
// Old versions of items (history.h) get the number of the last record of the write that replaced them. A
// write without records takes a number that no record has.
//
// If a write must reach the disk (fsync), waiting writes share one sync: the first in the queue also writes
// the batches of the others. Without fsync, sharing would only add hand-overs between threads, because a
// write takes 5 us.
//
// A commit that throws has not changed the counters or the watermark. After storage has been reopened, it
// does not contain the commit.
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

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/schema/item_version.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_feed.h"
#include "engine/tables/change_log.h"
#include "engine/tables/replica_log.h"

namespace mayfly::engine {

// Everything that a transaction writes.
struct StagedWrite {
  struct Record {
    StreamId stream;
    ShardNumber shard;
    std::string bytes;      // see change_log.h; the creation time is set at commit
    Sequence sequence = 0;  // set at commit
  };
  // An item as it was before the write. The key and the item belong to the transaction, which outlives this
  // object.
  struct Version {
    TableId table;
    std::string_view item_key;
    std::optional<std::string_view> item;  // nullopt if the item did not exist
    [[nodiscard]] std::size_t bytes() const {
      return version_key_bytes(item_key) + version_head_bytes + (item ? item->size() : 0);
    }
  };
  struct Count {
    Counter* counter;
    TableId table;
    IndexId index;
    std::int64_t items, bytes;  // the changes to the counts
  };

  const Clock* clock = nullptr;  // the account's clock
  Instant at = 0;                // the time of the commit by that clock; set at commit
  Batch batch;
  std::vector<Record> records;
  boost::container::small_vector<Version, 1> versions;
  boost::container::small_vector<Count, 4> counts;
  std::vector<ReplicaWrite> replica_writes;  // for global tables; the viewed data outlives the commit
  const ChangeSource* source = nullptr;      // tells the feed about the write

  void count(const LiveTable& table, IndexId index, std::int64_t items, std::int64_t bytes) {
    if (items != 0 || bytes != 0) counts.push_back({&table.counter(index), table.id(), index, items, bytes});
  }
};

class Committer {
 public:
  // `last` is the last sequence number that was ever assigned.
  Committer(Storage& storage, Watermark& watermark, Sequence last)
      : storage_(storage), watermark_(watermark) {
    watermark_.move_to(last);
  }

  void commit(StagedWrite& write);
  // Whether a long commit is in progress, for which another commit would have to wait.
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
  Watermark& watermark_;  // changes only while commit_ is held
  Mutex commit_;
  Batch joined_ GUARDED_BY(commit_);
  std::atomic<bool> busy_{false};  // changes only while commit_ is held
  ChangeFeed feed_{commit_, watermark_};

  Mutex queue_mutex_;
  Condition queue_moved_;
  std::deque<Waiting*> queue_ GUARDED_BY(queue_mutex_);
};

}  // namespace mayfly::engine
