// Wakes threads that looked for work and found none.
//
//   const Bell::Ticket ticket = bell.ticket();  // take a ticket, then look for work,
//   bell.wait(ticket, deadline);                // then sleep: no ring in between is missed
//
// Any number of threads can wait, and a ring wakes all of them. Thread-safe. Ringing is cheap.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

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

  // Waits until the bell has rung since `ticket` was taken. Returns false if the deadline passes first. The
  // deadline is a time of the host's system clock, not of a steady clock. So even if the system clock is set
  // or the machine sleeps, the wait ends when the system clock reaches the deadline.
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
