// The time that deletions depend on. It is never later than the endpoint's own clock.
//
//   clock.now()       // an error: the time is unknown, delete nothing
//
// The time is either the host's time, corrected if the endpoint's Date headers prove that the host's clock is
// ahead, or the time of a Mayfly account, whose clock tests can move.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "cli/aws/client.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"

namespace mayfly::sweep {

class SweepClock {
 public:
  virtual ~SweepClock() = default;
  // The error is a human-readable sentence.
  virtual Expected<engine::Instant, std::string> now() = 0;
};

// Bounds the difference between two clocks. The inputs are the times at which a request was sent and its
// answer arrived, and the second that the answer names.
//
// Each answer narrows the bounds: at some time between sending and arrival, the endpoint's clock was within
// that second, or at most a quarter of a second past it, because servers cache the header briefly. Answers
// older than two minutes are forgotten, because clocks drift and can be set.
class ClockSkew {
 public:
  static constexpr engine::Instant remembered_ms = 60'000, header_age_ms_max = 250;

  void hear(const aws::HeardDate& date);
  // Bounds of the endpoint's time minus the host's time, in ms. bounds() returns nullopt if no answer had a
  // date.
  struct Bounds {
    engine::Instant least, most;
  };
  [[nodiscard]] std::optional<Bounds> bounds() const;

 private:
  struct Span {
    engine::Instant began;
    Bounds bounds;
  };
  std::deque<Span> spans_;  // the current minute and the previous minute
};

// Thread-safe.
class GuardedHostClock final : public SweepClock {
 public:
  explicit GuardedHostClock(engine::Instant skew_max_ms) : skew_max_ms_(skew_max_ms) {}

  Expected<engine::Instant, std::string> now() override EXCLUDES(mutex_);
  void hear(const aws::HeardDate& date) EXCLUDES(mutex_);

 private:
  const engine::Instant skew_max_ms_;
  const engine::SystemClock host_;
  engine::Mutex mutex_;
  ClockSkew skew_ GUARDED_BY(mutex_);
};

// Thread-safe.
class MayflyClock final : public SweepClock {
 public:
  explicit MayflyClock(aws::Client& client) : client_(client) {}
  Expected<engine::Instant, std::string> now() override;

 private:
  aws::Client& client_;
};

}  // namespace mayfly::sweep
