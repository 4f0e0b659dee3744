// RocksDB's files and threads in the simulation. A simulated crash makes the n-th change to the files and all
// later changes fail. RocksDB's jobs are steps of the scheduler.
//
//   SimulatedEnv env;
//   env.use(scheduler);
//   … Database::open({.directory = directory, .env = &env, …}) …
//   env.crash_at(17);            // all changes fail from the 17th on: appends, syncs, creations, …
//   … close the database …
//   env.restart(Lost::unsynced, random);  // drops unsynced data, as a power cut would; files work again
//
// The files are in a directory of the host, so code that checks the directory before RocksDB opens it
// (data_directory, write_ahead_log) sees the same files. Renaming, creating and deleting files is durable at
// once: the loss of unsynced directory entries is not simulated.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>
#include <set>
#include <string>

#include "engine/base/scheduler.h"

namespace mayfly::testing {

enum class Lost : std::uint8_t {
  nothing,   // the process was killed; everything it wrote remains
  unsynced,  // the power failed; a random prefix of unsynced data remains
};

enum class Failing : std::uint8_t { nothing, writes, reads };

class SimulatedEnv final : public rocksdb::EnvWrapper {
 public:
  SimulatedEnv();
  ~SimulatedEnv() override;

  // Sets the scheduler that runs RocksDB's jobs.
  void use(std::shared_ptr<engine::Scheduler> scheduler) { scheduler_ = std::move(scheduler); }

  // Crashes at this change, counted from now. That change and all later changes fail. 0 disables the crash.
  void crash_at(std::uint64_t operation);
  [[nodiscard]] bool crashed() const;
  // Failing::writes is a full disk: appends and new files fail, and reads succeed. With Failing::reads, reads
  // fail and writes succeed. A compaction that a thread waits for can always read; see begin_waiting().
  void fail(Failing failing);
  // Limits the free space until the next fail(). As on a real disk, an append that does not fit is written in
  // part and fails, and deleting a file frees space.
  void leave_room(std::uint64_t bytes);
  void restart(Lost lost, std::mt19937_64& random);

  // --- RocksDB's flushes and compactions

  // Call these before and after the thread (Interleaver::self()) waits for jobs inside RocksDB. In between,
  // RocksDB's own threads, not the scheduler, run the jobs, and no other simulated thread runs until the last
  // job has ended. RocksDB restarts a failed compaction forever, so compactions can always read in that time.
  // After a crash, when the thread no longer waits in RocksDB, jobs are steps of the scheduler again.
  void begin_waiting(int thread);
  void end_waiting(int thread);
  void Schedule(void (*run)(void*), void* argument, Priority priority, void* tag,
                void (*unscheduled)(void*)) override;
  int UnSchedule(void* tag, Priority priority) override;
  [[nodiscard]] unsigned int GetThreadPoolQueueLen(Priority priority) const override;
  // The number of scheduled jobs that have not started.
  [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }

 private:
  class Files;
  class Jobs;
  struct Job {
    void (*run)(void*);
    void* argument;
    Priority priority;
    void* tag;
    void (*unscheduled)(void*);
  };

  void run_elsewhere(const Job& job);

  std::shared_ptr<engine::Scheduler> scheduler_;
  std::shared_ptr<Files> files_;
  std::shared_ptr<engine::Task> steps_;
  std::deque<Job> jobs_;  // guarded by elsewhere_mutex_ while a thread waits
  std::set<int> waiting_;
  std::mutex elsewhere_mutex_;
  std::condition_variable elsewhere_done_;
  int elsewhere_ = 0;  // jobs that RocksDB's threads run
  bool ends_ = false;  // the waiting thread has left RocksDB
};

}  // namespace mayfly::testing
