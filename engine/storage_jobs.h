// Keeps RocksDB from forgetting a flush when an error comes before it.
//
// A flush that begins after an error has taken effect returns without flushing. RocksDB (7.8 to 10.10:
// DBImpl::BackgroundFlush) no longer counts it but leaves its request queued, so it is never scheduled again,
// and DB::Resume waits for it forever. (A compaction that meets an error is counted again, and is not lost.)
//
// RocksDB tells its listeners of an error before the error takes effect, without holding its lock. At that
// moment hold() waits for the flush that is about to begin, and holds back each flush that comes later.
// A held flush may run once a resumption is in progress that waits for it:
//
//   if (jobs->flush_runs()) return;  // later
//   if (jobs->begin_resuming()) …    // flushes are held: DB::Resume waits for them until release()
//
// A resumption must not begin while a flush runs. If that flush fails, or its announced error takes effect,
// while RocksDB resumes, DB::Resume schedules another flush but does not wait for it. That flush then begins
// after the failed resumption and is forgotten.
//
// RocksDB counts a held flush as scheduled, so a DB::Resume that begins later ends only after it.
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

// Any thread may call any of these.
class StorageJobs : public std::enable_shared_from_this<StorageJobs> {
 public:
  StorageJobs();
  ~StorageJobs();
  StorageJobs(const StorageJobs&) = delete;
  StorageJobs& operator=(const StorageJobs&) = delete;

  // As Env::Schedule, by `base`. A job may outlive everything but the StorageJobs.
  void schedule(rocksdb::Env& base, void (*run)(void*), void* argument, rocksdb::Env::Priority priority,
                void* tag, void (*unscheduled)(void*));
  // The calling thread's job has begun, if the thread runs one: errors no longer make RocksDB forget it.
  void begun();
  // Whether the calling thread runs a compaction.
  static bool compacts();
  // From now on flushes are held. Waits until a flush that was let through earlier has begun or ended, but
  // for `time` at most, and then returns false. Requires: RocksDB's lock is not held.
  bool hold(std::chrono::milliseconds time);
  // Whether a flush that was let through has not ended. After an error RocksDB lets it sleep for a second.
  bool flush_runs();
  // Flushes that are scheduled from now on run. Returns whether any that was scheduled earlier is held.
  // Requires: RocksDB has an error and is not resuming, so that it schedules none, and no flush runs.
  bool begin_resuming();
  // Runs the held flushes.
  void release();
  // Runs the held flushes and holds no other: the database is about to be closed.
  void release_for_good();

 private:
  struct Job;

  void schedule(std::unique_ptr<Job> job);
  bool let_through(std::unique_ptr<Job>& job);
  void has_begun(Job& job);
  void has_ended(Job& job);
  void dropped(const Job& job);

  std::mutex mutex_;  // within RocksDB's; not a Mutex, since no Interleaving steps threads of RocksDB's
  std::condition_variable begun_;
  std::vector<std::unique_ptr<Job>> held_;
  std::uint64_t scheduled_ = 0;   // flushes, ever
  std::uint64_t held_until_ = 0;  // flushes up to this number wait for release()
  int waiting_ = 0;               // flushes that were scheduled and not let through
  int beginning_ = 0;             // flushes that were let through and have not begun
  int running_ = 0;               // flushes that were let through and have not ended
  bool holds_ = false;
  bool closes_ = false;
};

}  // namespace mayfly::engine
