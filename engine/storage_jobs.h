// Delays a RocksDB error until the flushes and compactions that it would strand have begun or ended.
//
// When a thread reports an error while a flush is already scheduled, that flush sees the error and returns
// without flushing. RocksDB (7.8 to 10.10: DBImpl::BackgroundFlush) no longer counts it but leaves its
// request queued, so it is never scheduled again: DB::Resume waits for it forever, and writers wait for
// DB::Resume. A compaction is lost in the same way, and writes stop when files pile up. RocksDB
// tells its listeners of an error before the error takes effect, without holding its lock; that is when
// await_begun() waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <rocksdb/env.h>

namespace mayfly::engine {

// Any thread may call any of these.
class StorageJobs : public std::enable_shared_from_this<StorageJobs> {
 public:
  // As Env::Schedule, by `base`. A job may outlive all but this.
  void schedule(rocksdb::Env& base, void (*run)(void*), void* argument, rocksdb::Env::Priority priority,
                void* tag, void (*unscheduled)(void*));
  // The calling thread's job has looked for errors, if the thread is a job's.
  void begun();
  // Until no other flush is scheduled or under way, for the end of one schedules the next, and no other
  // compaction is scheduled that has not begun; or for `time`, and then returns false: a disk may hang.
  // Requires: RocksDB's lock is not held.
  bool await_begun(std::chrono::milliseconds time);

 private:
  struct Job;

  void count_no_more(Job& job);

  std::mutex mutex_;  // within RocksDB's; not a Mutex, since no Interleaving steps threads of RocksDB's
  std::condition_variable fewer_;
  int counted_ = 0;
};

}  // namespace mayfly::engine
