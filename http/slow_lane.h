// Threads for requests that may wait: for a change, for time to pass through a million expiries, for another
// server. The io threads, which answer all others, hand such a request over and go on.
//
// Who waits holds a place, and there are so many of each kind: who opens hundreds of event streams takes no
// control call its place, and changes that wait at a failpoint leave the call that releases it one. No thread
// before the first such request; then one for each that is under way, kept for the next. Nobody with a place
// waits behind others.
//
//   auto place = lane.take(Waiting::awaits);
//   if (!place || !lane.run(stop, [=] { ... })) answer_that_too_many_wait();
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "compat/server_metrics.h"
#include "engine/mutex.h"
#include "http/shortage.h"

namespace mayfly::http {

enum class Waiting : unsigned char {
  events,       // streams of events
  awaits,       // for a change
  changes,      // control calls that change something, as an advance
  calls,        // other control calls; the one that ends a wait is among them
  invocations,  // of functions
  operations,   // DynamoDB's, while there are faults, and those that look at whole tables
  agents,       // whatever agents ask for by MCP
};
inline constexpr std::size_t waiting_kinds = 7;
std::string_view name_of(Waiting kind);  // "event streams"

class SlowLane {
 public:
  // Of one kind; held until it goes away. The lane must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)), kind_(other.kind_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(lane_, other.lane_);
      std::swap(kind_, other.kind_);
      return *this;
    }
    ~Place() { leave(); }
    void leave() {
      if (lane_ != nullptr) std::exchange(lane_, nullptr)->add(kind_, -1);
    }
    explicit operator bool() const { return lane_ != nullptr; }

   private:
    friend class SlowLane;
    Place(SlowLane& lane, Waiting kind) : lane_(&lane), kind_(kind) {}
    SlowLane* lane_ = nullptr;
    Waiting kind_{};
  };

  // `places`: of each kind. `metrics` outlives the lane.
  SlowLane(std::size_t places, compat::ServerMetrics& metrics)
      : places_(places),
        metrics_(metrics),
        shortage_(metrics, compat::Meter::threads_failing, compat::Meter::thread_failures,
                  "no thread can be started for what waits") {}
  ~SlowLane() { end(); }
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  // Empty: all of the kind are taken.
  [[nodiscard]] Place take(Waiting kind);

  // False: there is no thread to be had, or the lane has ended. `stop` is requested if the lane ends
  // meanwhile. Requires: the caller has a place, or the job waits for nothing and is short; the job heeds
  // `stop` wherever it waits.
  [[nodiscard]] bool run(std::stop_source stop, std::function<void()> job);

  // Asks all jobs to stop and waits until they have. None is taken any more.
  void end();

 private:
  struct Job {
    std::stop_source stop;
    std::function<void()> run;
  };
  void work();
  std::size_t add(Waiting kind, std::int64_t by);  // how many places of the kind are taken then

  const std::size_t places_;
  compat::ServerMetrics& metrics_;
  std::array<std::atomic<std::size_t>, waiting_kinds> taken_{};
  engine::Mutex mutex_;
  Shortage shortage_ GUARDED_BY(mutex_);  // of threads
  engine::Condition came_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);  // more than idle threads only while some are about to be idle
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::stop_source end_;
};

}  // namespace mayfly::http
