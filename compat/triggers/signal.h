// Something has happened: for those who look, find nothing to do, and wait for the next time.
//
//   const auto seen = signal.seen();      // before looking
//   if (!anything_to_do()) signal.wait(seen, deadline);
//
// Whatever is raised after seen() ends the wait, so nothing is missed. Thread-safe; raising is cheap.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "engine/guarded_by.h"

namespace mayfly::compat::triggers {

using RealTime = std::chrono::system_clock::time_point;  // engine::host_time()

class Signal {
 public:
  [[nodiscard]] std::uint64_t seen() const {
    const std::lock_guard lock(mutex_);
    return raised_;
  }
  void raise() {
    {
      const std::lock_guard lock(mutex_);
      ++raised_;
    }
    changed_.notify_all();
  }
  // False: the deadline came first. No deadline: waits as long as it takes.
  bool wait(std::uint64_t seen, std::optional<RealTime> deadline) const {
    std::unique_lock lock(mutex_);
    const auto raised = [&] { return raised_ != seen; };
    if (deadline) return changed_.wait_until(lock, *deadline, raised);
    changed_.wait(lock, raised);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t raised_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat::triggers
