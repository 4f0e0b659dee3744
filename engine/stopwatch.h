// How long something took, by the host's steady clock, whatever an account's clock says: for metrics.
//
//   const Stopwatch stopwatch;
//   ...
//   metrics.record(operation, status, stopwatch.elapsed());
#pragma once

#include <chrono>

namespace mayfly::engine {

class Stopwatch {
 public:
  Stopwatch() : begun_(now()) {}
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return now() - begun_; }

 private:
  static std::chrono::nanoseconds now();  // in clock.cc, which alone asks for the time
  std::chrono::nanoseconds begun_;
};

}  // namespace mayfly::engine
