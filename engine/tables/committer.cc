#include "engine/tables/committer.h"

#include <algorithm>

#include "engine/schema/item_version.h"
#include "engine/storage/key_space.h"

namespace mayfly::engine {

namespace {

// A tombstone without a record gets its own number, which tells whether a snapshot contains the tombstone.
void stage_replica_write(Batch& batch, const ReplicaWrite& replica_write, const StagedWrite& write,
                         Sequence& sequence) {
  if (replica_write.record)
    return stage(batch, replica_write, write.records[*replica_write.record].sequence, write.at);
  if (replica_write.item.empty()) {
    std::string last;
    append_little_endian(last, ++sequence);
    batch.put(last_version_key, last);
  }
  stage(batch, replica_write, sequence, write.at);
}

// A batch of this size is written in about a millisecond.
constexpr std::size_t quick_batch_bytes_max = 1024 * 1024;

class Busy {
 public:
  Busy(std::atomic<bool>& flag, bool is_busy) : flag_(is_busy ? &flag : nullptr) {
    if (flag_ != nullptr) flag_->store(true, std::memory_order_relaxed);
  }
  ~Busy() {
    if (flag_ != nullptr) flag_->store(false, std::memory_order_relaxed);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool>* const flag_;
};

}  // namespace

void Committer::commit(StagedWrite& write) {
  if (storage_.syncs()) return commit_shared(write);
  StagedWrite* const group[] = {&write};
  const Lock lock(commit_);
  commit_group(group);
}

void Committer::commit_shared(StagedWrite& write) {
  Waiting self{&write};
  Lock lock(queue_mutex_);
  queue_.push_back(&self);
  queue_moved_.wait(lock, [&]() REQUIRES(queue_mutex_) { return self.done || queue_.front() == &self; });
  if (!self.done) {
    // This write is first in the queue, so it also commits all writes that are waiting now. Writes that
    // arrive in the meantime are left for the next group.
    std::vector<StagedWrite*> group;
    try {
      group.reserve(queue_.size());
    } catch (...) {  // the writes behind this one in the queue continue without it
      queue_.pop_front();
      queue_moved_.notify_all();
      throw;
    }
    for (const Waiting* follower : queue_) group.push_back(follower->write);
    lock.unlock();
    std::exception_ptr fault;
    try {
      const Lock commit_lock(commit_);
      commit_group(group);
    } catch (...) {
      fault = std::current_exception();
    }
    lock.lock();
    for (std::size_t taken = 0; taken < group.size(); ++taken) {
      Waiting* const follower = queue_.front();
      queue_.pop_front();
      follower->fault = fault;
      follower->done = true;
    }
    queue_moved_.notify_all();
  }
  if (self.fault) std::rethrow_exception(self.fault);
}

void Committer::commit_group(std::span<StagedWrite* const> group) {
  Batch* batch = &group.front()->batch;
  if (group.size() > 1) {
    batch = &joined_;
    joined_.clear();
    for (const StagedWrite* write : group) joined_.append(write->batch);
  }

  Sequence sequence = watermark_.published();
  bool versions = false;
  for (StagedWrite* write : group) {
    write->at = write->clock->now();
    for (StagedWrite::Record& record : write->records) {
      set_record_created(record.bytes, write->at);
      record.sequence = ++sequence;
      batch->put(record_key(record.stream, record.shard, sequence), record.bytes);
    }
    if (!write->versions.empty()) {
      if (write->records.empty()) ++sequence;
      versions = true;
      for (const StagedWrite::Version& version : write->versions) {
        const std::string key = version_key(version.table, version.item_key, sequence);
        const auto head = version_head(write->at, version.item.has_value());
        batch->put(key, {head.data(), head.size()}, version.item.value_or(std::string_view{}));
      }
    }
    for (const ReplicaWrite& each : write->replica_writes)
      stage_replica_write(*batch, each, *write, sequence);
  }
  if (versions && storage_.durable()) {
    std::string value;
    append_little_endian(value, sequence);
    batch->put(last_version_key, value);
  }

  if (storage_.durable()) {
    std::vector<StagedWrite::Count> totals;
    for (const StagedWrite* write : group) {
      for (const StagedWrite::Count& count : write->counts) {
        auto total = std::find_if(totals.begin(), totals.end(),
                                  [&](const auto& other) { return other.counter == count.counter; });
        if (total == totals.end()) {
          totals.push_back(
              {count.counter, count.table, count.index, count.counter->items, count.counter->bytes});
          total = totals.end() - 1;
        }
        total->items += count.items;
        total->bytes += count.bytes;
      }
    }
    for (const StagedWrite::Count& total : totals) {
      std::string value;
      append_little_endian(value, total.items);
      append_little_endian(value, total.bytes);
      batch->put(counter_key(total.table, total.index), value);
    }
  }

  if (!batch->empty()) {
    const Busy busy(busy_, batch->bytes().size() > quick_batch_bytes_max);
    storage_.write(*batch);
  }
  interleave("commit written");

  for (const StagedWrite* write : group) {
    for (const StagedWrite::Count& count : write->counts) {
      count.counter->items += count.items;
      count.counter->bytes += count.bytes;
    }
  }
  watermark_.move_to(sequence);

  if (!feed_.listened()) return;
  for (const StagedWrite* write : group)
    if (write->source != nullptr) {
      feed_.tell(*write->source, write->at);
      interleave("write told");
    }
  interleave("commit told");
}

}  // namespace mayfly::engine
