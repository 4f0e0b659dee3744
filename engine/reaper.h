// Due entries -> Transaction::remove_expired, by Cause::time_to_live.
//
// An item goes at the first instant of its account's clock that is after its TTL, never earlier: the entry says
// when to look, the item under its lock says whether. What is due goes in due order, and in the order of its
// keys at the same instant, in small batches, so that writers get their turn. One thread, asleep until
// something is due; storage that fails is tried again later.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/clock.h"
#include "engine/guarded_by.h"
#include "engine/timer_heap.h"

namespace mayfly::engine {

class Database;

class Reaper {
 public:
  explicit Reaper(Database& database) : database_(database) {}
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  void start();  // the thread; without it only the two below reap
  std::int64_t reap_due();
  std::int64_t advance(ManualClock& clock, Instant to, bool age_streams);

 private:
  void run();
  std::int64_t sweep_all(Instant now);
  std::int64_t sweep(TimerHeap::Timer timer, Instant now);
  void trim_streams();

  Database& database_;
  std::mutex sweeping_;  // one sweep at a time; taken before a table's gate
  std::optional<Instant> next_trim_ GUARDED_BY(sweeping_);
  std::atomic<bool> stop_{false};  // a backlog is left for the next start
  std::thread thread_;
};

}  // namespace mayfly::engine
