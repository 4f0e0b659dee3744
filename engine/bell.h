// Wakes threads that have looked for something to do and found nothing.
//
//   const Bell::Ticket ticket = bell.ticket();  // then look at everything,
//   bell.wait(ticket, deadline);                // then sleep: no ring since the ticket was taken is missed
//
// Any number of threads may wait, and each of them is woken. Thread-safe; ringing is cheap.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::engine {

class Bell {
 public:
  using Ticket = std::uint64_t;

  [[nodiscard]] Ticket ticket() const {
    const Lock lock(mutex_);
    return rings_;
  }

  void ring() {
    {
      const Lock lock(mutex_);
      ++rings_;
    }
    rung_.notify_all();
  }

  // Waits until it rings. False: the deadline came first. The deadline is the host's clock's, not a steady
  // one's: where that clock is set, or the machine slept, we wake when it says so.
  bool wait(Ticket ticket, std::optional<RealTime> deadline) const {
    Lock lock(mutex_);
    const auto rung = [&]() REQUIRES(mutex_) { return rings_ != ticket; };
    if (deadline) return rung_.wait_until(lock, *deadline, rung);
    rung_.wait(lock, rung);
    return true;
  }

 private:
  mutable Mutex mutex_;
  mutable Condition rung_;
  Ticket rings_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
