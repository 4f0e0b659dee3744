// How fast may be written: so many units a second, and slower while the endpoint throttles.
//
//   if (!pace.before_write()) return;                 // the process is being ended
//   auto answer = client.call("DeleteItem", body);
//   pace.after_write(consumed_units);                 // or pace.throttled()
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/random.h"

namespace mayfly::sweep {

// Sleeps; false: the process is being ended, do no more.
using Wait = std::function<bool(std::chrono::milliseconds)>;

// Thread-safe.
class Pace {
 public:
  // `units_per_second`: 0 is no limit. What is not used is saved for one second.
  Pace(double units_per_second, Wait wait) : rate_(units_per_second), wait_(std::move(wait)) {}

  bool before_write() EXCLUDES(mutex_);  // waits for its turn; false: do not
  void after_write(double units) EXCLUDES(mutex_);
  // All pause: anything up to 50 ms, doubled with each time on end, 20 s at most.
  void throttled() EXCLUDES(mutex_);

 private:
  using Time = engine::RealTime;
  std::chrono::milliseconds turn() EXCLUDES(mutex_);  // how long to wait for it; none: it is taken

  const double rate_;
  const Wait wait_;
  engine::SystemRandom random_;
  engine::Mutex mutex_;
  double units_ GUARDED_BY(mutex_) = 0;  // that may be used now; below nothing: used too early
  Time counted_ GUARDED_BY(mutex_) = engine::host_time();
  Time paused_until_ GUARDED_BY(mutex_){};
  int throttled_on_end_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::sweep
