#include "cli/sweep/pace.h"

#include <algorithm>

#include "cli/aws/retry.h"

namespace mayfly::sweep {

using std::chrono::milliseconds;

milliseconds Pace::turn() {
  const engine::Lock lock(mutex_);
  const Time now = engine::host_time();
  if (now < paused_until_) return std::chrono::ceil<milliseconds>(paused_until_ - now);
  if (rate_ <= 0) return milliseconds(0);
  const double passed = std::chrono::duration<double>(now - counted_).count();
  units_ = std::min(units_ + std::max(passed, 0.0) * rate_, std::max(rate_, 1.0));
  counted_ = now;
  if (units_ < 1) return milliseconds(1 + static_cast<std::int64_t>((1 - units_) / rate_ * 1000));
  units_ -= 1;
  return milliseconds(0);
}

bool Pace::before_write() {
  for (milliseconds pause = turn(); pause.count() > 0; pause = turn())
    if (!wait_(std::min(pause, milliseconds(1000)))) return false;
  return true;
}

void Pace::after_write(double units) {
  const engine::Lock lock(mutex_);
  throttled_on_end_ = 0;
  if (rate_ > 0) units_ -= std::max(units, 1.0) - 1;  // before_write() has already taken one unit
}

void Pace::throttled() {
  const engine::Lock lock(mutex_);
  throttled_on_end_ = std::min(throttled_on_end_ + 1, 20);
  paused_until_ =
      std::max(paused_until_, engine::host_time() + aws::pause_before(throttled_on_end_ + 1, random_));
}

}  // namespace mayfly::sweep
