// Tells workers whether the transfer should end, which is the case after SIGINT or SIGTERM, or when a worker
// has failed.
//
//   Interruption interruption(late);                 // one per process; receives the signals from now on
//   while (!interruption.is_wanted()) copy_a_page();
//   if (!interruption.pause(200ms)) …                // false: the pause was cut short
//
// A second signal ends the process immediately, as it would without this class.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

#include "cli/base/end_signals.h"

namespace mayfly::transfer {

class Interruption {
 public:
  // `late`: see EndSignals.
  explicit Interruption(cli::EndSignals::Late late = {});

  [[nodiscard]] bool is_wanted() const { return wanted_ || signals_.came(); }
  void want() { wanted_ = true; }
  // A signal requests a stop through this token; want() does not.
  [[nodiscard]] std::stop_token stop_token() const { return signals_.stop_token(); }
  bool pause(std::chrono::milliseconds time) const;

 private:
  const cli::EndSignals signals_;
  std::atomic<bool> wanted_ = false;
};

}  // namespace mayfly::transfer
