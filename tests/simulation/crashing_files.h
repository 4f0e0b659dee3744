// RocksDB's files and threads in a simulation: files that crash at the n-th thing that is done to them, and
// jobs that are steps.
//
//   SimulatedEnv env;
//   env.use(scheduler);
//   … Database::open({.directory = directory, .env = &env, …}) …
//   env.crash_at(17);            // from the 17th append, sync, creation, renaming or deletion on, all fail
//   … close the database …
//   env.restart(Lost::unsynced, random);  // what a power cut takes away is taken away; all works again
//
// The files are in a directory of the host's: what looks the directory over before RocksDB does
// (data_directory, write_ahead_log) sees what RocksDB would. Renaming, creating and deleting are durable at
// once: what a directory without a sync loses is not simulated.
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

#include "engine/scheduler.h"

namespace mayfly::testing {

enum class Lost : std::uint8_t {
  nothing,   // the process was killed: what it wrote is there
  unsynced,  // the power went: of what was not synced some of the beginning is there
};

enum class Failing : std::uint8_t { nothing, writes, reads };

class SimulatedEnv final : public rocksdb::EnvWrapper {
 public:
  SimulatedEnv();
  ~SimulatedEnv() override;

  // Who steps RocksDB's jobs from now on.
  void use(std::shared_ptr<engine::Scheduler> scheduler) { scheduler_ = std::move(scheduler); }

  // The next that fails, and all after it, counted from now; 0: none.
  void crash_at(std::uint64_t operation);
  [[nodiscard]] bool crashed() const;
  // While the disk is full nothing is appended or made, and reading goes on; while it cannot be read, the
  // other way round. (A compaction that somebody waits for reads even then: see begin_waiting.)
  void fail(Failing failing);
  // Sets how many more bytes fit on the disk, until the next fail(). An append that does not fit is written
  // in part and fails, as on a disk; deleting a file makes room.
  void leave_room(std::uint64_t bytes);
  void restart(Lost lost, std::mt19937_64& random);

  // --- RocksDB's flushes and compactions
  // The thread (Interleaver::self()) goes into RocksDB to wait for jobs, which are no steps for so long: a
  // thread of RocksDB's does them. Until its last one ends nobody else goes on. A compaction that fails is
  // begun anew: so it can read in any case, and where the machine has crashed, and nobody is in RocksDB any
  // more, it is a step again.
  void begin_waiting(int thread);
  void end_waiting(int thread);
  void Schedule(void (*run)(void*), void* argument, Priority priority, void* tag,
                void (*unscheduled)(void*)) override;
  int UnSchedule(void* tag, Priority priority) override;
  [[nodiscard]] unsigned int GetThreadPoolQueueLen(Priority priority) const override;
  // Jobs that were scheduled and not begun.
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
  std::deque<Job> jobs_;  // while somebody waits with the mutex
  std::set<int> waiting_;
  std::mutex elsewhere_mutex_;
  std::condition_variable elsewhere_done_;
  int elsewhere_ = 0;  // jobs
  bool ends_ = false;  // nobody who waits is in RocksDB any more
};

}  // namespace mayfly::testing
