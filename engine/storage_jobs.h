// RocksDB's flushes and compactions, as far as an error has to wait for them.
//
// RocksDB (7.8) forgets a flush that was scheduled before an error of another thread and runs
// behind it: the flush sees the error and goes, no longer counted and still queued, and so is never scheduled
// again. Who resumes then waits for it for ever, and writers for who resumes. A compaction is forgotten
// alike, until files are so many that writes stop. So an error comes to count only when no job is left that
// would meet it so: RocksDB tells its listeners beforehand, without holding its lock.
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
