// Wakes one thread that waits for any of several things to change.
//
//   const Bell::Ticket ticket = bell.ticket();   // then look at everything,
//   bell.wait(ticket, pause);                    // then sleep: rings since the ticket was taken are not missed
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "engine/clock.h"
#include "engine/guarded_by.h"

namespace mayfly::engine {

class Bell {
 public:
  using Ticket = std::uint64_t;

  [[nodiscard]] Ticket ticket() const {
    const std::lock_guard lock(mutex_);
    return rings_;
  }

  void ring() {
    const std::lock_guard lock(mutex_);
    ++rings_;
    rung_.notify_all();
  }

  // Until it rings, or for so long of real time.
  void wait(Ticket ticket, std::optional<std::chrono::nanoseconds> real_time_max) {
    std::unique_lock lock(mutex_);
    const auto rung = [&] { return rings_ != ticket; };
    if (!real_time_max) return rung_.wait(lock, rung);
    // By the host's clock, not by a steady one: if it is set, or the machine slept, we wake when it says so.
    const auto deadline = host_time() + std::chrono::ceil<std::chrono::system_clock::duration>(*real_time_max);
    rung_.wait_until(lock, deadline, rung);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  Ticket rings_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
