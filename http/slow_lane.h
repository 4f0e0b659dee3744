// Threads for requests that may wait: for a change, for time to pass through a million expiries, for another
// server. The io threads, which answer all others, hand such a request over and go on.
//
// No thread before the first such request; then one for each that is under way, up to a limit, kept for the next.
// There is no queue: behind waiting requests, one that would let them go on might wait for ever.
//
//   if (!lane.run(stop, [=] { ... })) answer_that_too_many_wait();
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "engine/guarded_by.h"

namespace mayfly::http {

class SlowLane {
 public:
  explicit SlowLane(std::size_t threads_max) : threads_max_(threads_max) {}
  ~SlowLane() { end(); }
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  // False: as many as may are under way already, or this is the end. `stop` is requested if the lane ends
  // meanwhile; the job, which must not throw, heeds it wherever it waits.
  [[nodiscard]] bool run(std::stop_source stop, std::function<void()> job);

  // Asks all jobs to stop and waits until they have. None is taken any more.
  void end();

 private:
  struct Job {
    std::stop_source stop;
    std::function<void()> run;
  };
  void work();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);  // never more than idle threads
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::stop_source end_;
};

}  // namespace mayfly::http
