// A thread for what can wait: it is made when there is first something to do, and sleeps in between.
//
//   Upkeep upkeep([&]() -> std::optional<std::chrono::milliseconds> { … return std::nullopt; });
//   upkeep.ring();    // `work` runs soon, and again after the pause that it returns, if it returns one
//
// Thread-safe. The destructor stops it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "engine/mutex.h"

namespace mayfly::engine {

class Upkeep {
 public:
  using Work = std::function<std::optional<std::chrono::milliseconds>()>;

  explicit Upkeep(Work work) : work_(std::move(work)) {}
  ~Upkeep() { stop(); }
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  // If there can be no thread now, the next ring tries again.
  void ring() noexcept;
  void stop();  // for good: returns when no call of `work` is under way

 private:
  void run();

  const Work work_;
  Mutex mutex_;
  Condition moved_;
  bool rung_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
