// Whether somebody wants this to end: SIGINT, SIGTERM, or a worker that failed while others go on.
//
//   Interruption interruption(late);                 // one in a process; takes the signals from now on
//   while (!interruption.is_wanted()) copy_a_page();
//   if (!interruption.pause(200ms)) …                // false: it was cut short
//
// The second signal ends the process at once, as it would without this.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

#include "cli/end_signals.h"

namespace mayfly::transfer {

class Interruption {
 public:
  // `late`: as EndSignals has it.
  explicit Interruption(http::EndSignals::Late late = {});

  [[nodiscard]] bool is_wanted() const { return wanted_ || signals_.came() != 0; }
  void want() { wanted_ = true; }
  // A stop is requested by a signal, not by want().
  [[nodiscard]] std::stop_token stop_token() const { return signals_.stop_token(); }
  bool pause(std::chrono::milliseconds time) const;

 private:
  const http::EndSignals signals_;
  std::atomic<bool> wanted_ = false;
};

}  // namespace mayfly::transfer
