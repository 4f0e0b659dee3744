// Measures durations for metrics with the host's steady clock, independently of accounts' clocks.
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
  static std::chrono::nanoseconds now();  // in clock.cc, the only file that reads the time
  std::chrono::nanoseconds begun_;
};

}  // namespace mayfly::engine
