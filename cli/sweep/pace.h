// Limits the rate of writes in units per second, and slows down while the endpoint throttles.
//
//   if (!pace.before_write()) return;                 // the process is ending
//   auto answer = client.call("DeleteItem", body);
//   pace.after_write(consumed_units);                 // or pace.throttled()
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"

namespace mayfly::sweep {

// Sleeps. Returns false if the process is ending, so that the caller stops.
using Wait = std::function<bool(std::chrono::milliseconds)>;

// Thread-safe.
class Pace {
 public:
  // `units_per_second`: 0 means no limit. Unused units are saved for one second.
  Pace(double units_per_second, Wait wait) : rate_(units_per_second), wait_(std::move(wait)) {}

  bool before_write() EXCLUDES(mutex_);  // waits until a write is allowed; false: do not write
  void after_write(double units) EXCLUDES(mutex_);
  // Pauses all writers for a random time. The maximum pause is 50 ms, and doubles with each consecutive
  // throttle up to 20 s.
  void throttled() EXCLUDES(mutex_);

 private:
  using Time = engine::RealTime;
  std::chrono::milliseconds turn() EXCLUDES(mutex_);  // how long to wait; 0: the write may begin

  const double rate_;
  const Wait wait_;
  engine::SystemRandom random_;
  engine::Mutex mutex_;
  double units_ GUARDED_BY(mutex_) = 0;  // available now; below 0: used in advance
  Time counted_ GUARDED_BY(mutex_) = engine::host_time();
  Time paused_until_ GUARDED_BY(mutex_){};
  int throttled_on_end_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::sweep
