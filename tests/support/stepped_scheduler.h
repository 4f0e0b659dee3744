// A scheduler that runs background steps only when the test calls it, in an order chosen by a seed, so every
// run of a test is identical.
//
//   auto scheduler = std::make_shared<SteppedScheduler>(clock, seed);
//   World world({.clock = clock, .reap = true, .make_scheduler = [&](std::size_t) { return scheduler; }});
//   scheduler->run();   // runs steps until there is nothing to do before the clock moves
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "engine/base/clock.h"
#include "engine/base/scheduler.h"

namespace mayfly::testing {

// A host clock that moves only when the test moves it.
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
  // Alarms use `clock`, which the test moves.
  SteppedScheduler(std::shared_ptr<SteppedClock> clock, std::uint64_t seed)
      : clock_(std::move(clock)), random_(seed) {}

  [[nodiscard]] engine::RealTime now() const override {
    return engine::RealTime(std::chrono::milliseconds(clock_->now()));
  }

  // Whether there is nothing to do now. Requires: no other thread runs.
  [[nodiscard]] bool idle() const NO_THREAD_SAFETY_ANALYSIS {
    return queue_.empty() && (alarms_.empty() || alarms_.begin()->first > now());
  }
  // Runs one step of one task. Returns false if no task has anything to do now.
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
