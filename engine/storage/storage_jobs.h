// Keeps RocksDB from losing a flush when an error occurs before the flush begins.
//
// A flush that begins after an error has taken effect returns without flushing. RocksDB (7.8 to 10.10:
// DBImpl::BackgroundFlush) no longer counts the flush but leaves its request queued, so the flush is never
// scheduled again, and DB::Resume waits for it forever. (A compaction that begins after an error is counted
// again and is not lost.)
//
// RocksDB notifies its listeners of an error before the error takes effect, without holding its lock. At that
// moment, hold() waits for the flush that is about to begin, and holds back each later flush. A held flush
// may run once a resumption that waits for it is in progress:
//
//   if (jobs->flush_runs()) return;  // later
//   if (jobs->begin_resuming()) …    // flushes are held: DB::Resume waits for them until release()
//
// A resumption must not begin while a flush runs. If that flush fails, or its announced error takes effect,
// while RocksDB resumes, DB::Resume schedules another flush but does not wait for it. The new flush then
// begins after the failed resumption and is lost.
//
// RocksDB counts a held flush as scheduled, so a DB::Resume that begins later ends only after that flush.
// Requires: RocksDB schedules one flush at a time, as it does with max_background_jobs = 2.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <rocksdb/env.h>
#include <vector>

namespace mayfly::engine {

// Thread-safe.
class StorageJobs : public std::enable_shared_from_this<StorageJobs> {
 public:
  StorageJobs();
  ~StorageJobs();
  StorageJobs(const StorageJobs&) = delete;
  StorageJobs& operator=(const StorageJobs&) = delete;

  // Schedules a job like Env::Schedule, on `base`. The job keeps this object alive and may outlive everything
  // else.
  void schedule(rocksdb::Env& base, void (*run)(void*), void* argument, rocksdb::Env::Priority priority,
                void* tag, void (*unscheduled)(void*));
  // Notes that the calling thread's job, if there is one, has begun: an error no longer makes RocksDB lose
  // it.
  void begun();
  // Whether the calling thread is running a compaction.
  static bool compacts();
  // Holds all flushes from now on. Waits until each flush that was let through earlier has begun or ended.
  // Returns false if that takes longer than `time`.
  // Requires: the caller does not hold RocksDB's lock.
  bool hold(std::chrono::milliseconds time);
  // Whether a flush that was let through is still running. After an error, RocksDB makes the flush sleep
  // for a second.
  bool flush_runs();
  // From now on, lets each newly scheduled flush run. Returns whether an earlier flush is still held.
  // Requires: RocksDB has an error and is not resuming, so that it schedules no flush; and no flush runs.
  bool begin_resuming();
  // Runs the held flushes.
  void release();
  // Runs the held flushes and holds no others, because the database is about to be closed.
  void release_for_good();

 private:
  struct Job;

  void schedule(std::unique_ptr<Job> job);
  bool let_through(std::unique_ptr<Job>& job);
  void has_begun(Job& job);
  void has_ended(Job& job);
  void dropped(const Job& job);

  // Taken while RocksDB's lock is held. It is not a Mutex, because an Interleaving does not control
  // RocksDB's threads.
  std::mutex mutex_;
  std::condition_variable begun_;
  std::vector<std::unique_ptr<Job>> held_;
  std::uint64_t scheduled_ = 0;   // all flushes so far
  std::uint64_t held_until_ = 0;  // flushes up to this number wait for release()
  int waiting_ = 0;               // flushes that were scheduled and not let through
  int beginning_ = 0;             // flushes that were let through and have not begun
  int running_ = 0;               // flushes that were let through and have not ended
  bool holds_ = false;
  bool closes_ = false;
};

}  // namespace mayfly::engine
