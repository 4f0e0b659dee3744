// What time it is, for who deletes by it: never later than the endpoint's own clock says.
//
//   clock.now()       // nothing: it cannot be known, delete nothing
//
// The host's clock, held back where the Date headers of the endpoint prove that it is ahead; or the clock of
// a Mayfly account, which tests move.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "cli/aws/client.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/random.h"

namespace mayfly::sweep {

class SweepClock {
 public:
  virtual ~SweepClock() = default;
  // The error is a sentence for people.
  virtual Expected<engine::Instant, std::string> now() = 0;
};

// What the difference of two clocks can be, given when we asked, when we heard, and which second it was
// there.
//
// Each answer narrows it: the endpoint's clock was within that second (or not a quarter past it: servers keep
// the header for a moment) at some time between asking and hearing. What is older than two minutes is
// forgotten, since clocks drift and are set.
class ClockSkew {
 public:
  static constexpr engine::Instant remembered_ms = 60'000, header_age_ms_max = 250;

  void hear(const aws::HeardDate& date);
  // Endpoint's minus host's, in ms. Nothing: no answer had a date.
  struct Bounds {
    engine::Instant least, most;
  };
  [[nodiscard]] std::optional<Bounds> bounds() const;

 private:
  struct Span {
    engine::Instant began;
    Bounds bounds;
  };
  std::deque<Span> spans_;  // the minute that goes on, and the one before
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
