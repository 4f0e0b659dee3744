// Steps what runs by itself when a test says so, in an order that a seed chooses: a test's second run is like
// its first.
//
//   auto scheduler = std::make_shared<SteppedScheduler>(clock, seed);
//   World world({.clock = clock, .reap = true, .make_scheduler = [&](std::size_t) { return scheduler; }});
//   scheduler->run();   // until nothing is left to do before the clock is moved
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "engine/clock.h"
#include "engine/scheduler.h"

namespace mayfly::testing {

// A host's clock that runs when the test moves it, and says how far off an instant is.
class SteppedClock final : public engine::Clock {
 public:
  explicit SteppedClock(engine::Instant now) : now_(now) {}
  [[nodiscard]] engine::Instant now() const override { return now_; }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(
      engine::Instant instant) const override {
    return std::chrono::milliseconds(std::max<engine::Instant>(instant - now_, 0));
  }
  void move(engine::Instant by) { now_ += by; }

 private:
  engine::Instant now_;
};

class SteppedScheduler final : public engine::Scheduler {
 public:
  // Alarms go by `clock`, which the test moves.
  SteppedScheduler(std::shared_ptr<SteppedClock> clock, std::uint64_t seed)
      : clock_(std::move(clock)), random_(seed) {}

  [[nodiscard]] engine::RealTime now() const override {
    return engine::RealTime(std::chrono::milliseconds(clock_->now()));
  }

  // Nothing is to be done now. Asked while nobody else runs.
  [[nodiscard]] bool idle() const NO_THREAD_SAFETY_ANALYSIS {
    return queue_.empty() && (alarms_.empty() || alarms_.begin()->first > now());
  }
  // One step of one task; false: none has anything to do now.
  bool step_one() {
    engine::Lock lock(mutex_);
    ring_alarms();
    if (queue_.empty()) return false;
    step(lock, random_() % queue_.size());
    return true;
  }
  void run() {
    while (step_one()) {}
  }

 private:
  const std::shared_ptr<SteppedClock> clock_;
  std::mt19937_64 random_;
};

}  // namespace mayfly::testing
