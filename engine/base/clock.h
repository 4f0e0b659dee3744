// Clocks. No code outside clock.cc reads the host's time.
//
// An account's Clock provides every time that DynamoDB would take from its own clock: for TTL, creation
// times, stream times and windows. Instants are milliseconds since the Unix epoch, UTC.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/mutex.h"

namespace mayfly::engine {

using Instant = std::int64_t;  // ms since the epoch

// 9999-12-31T23:59:59.999Z. An account's clock stops at this instant, and an item with a later
// TTL never expires.
inline constexpr Instant last_instant = 253'402'300'799'999;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // Returns the real time until now() reaches `instant`, assuming that the clock is not changed; nullopt if
  // now() never reaches it. For a distant instant, the result may be too short (24 hours), so callers check
  // again after that time.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const = 0;
};

// The host's clock. If the host's time is set back, this clock stands still until the host's time has caught
// up, so now() never decreases.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;

 private:
  mutable std::atomic<Instant> latest_{0};
};

// A host clock for tests, which stands still until set() is called.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant now) : now_(now) {}
  [[nodiscard]] Instant now() const override { return now_.load(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;
  // Requires: `now` is not earlier than now().
  void set(Instant now);

 private:
  std::atomic<Instant> now_;
};

// How the clock of an account runs.
struct ClockSetting {
  enum class Mode : std::uint8_t {
    real,    // shows the host's time
    frozen,  // stands still until it is moved
    offset,  // runs as fast as the host's clock, with a constant difference
    rate,    // runs `rate` times as fast as the host's clock
  };
  Mode mode = Mode::real;
  double rate = 1;  // for Mode::rate; positive
  friend bool operator==(const ClockSetting&, const ClockSetting&) = default;
};

// The clock of one account, computed from its setting and the host's clock. This class does not delete the
// items that become due when the clock is moved: TimeTravel::advance deletes them.
//
// Thread-safe.
class AccountClock final : public Clock {
 public:
  // The moment at which a setting started: the host's clock showed `host`, and this clock showed `here`. In
  // Mode::real, both times are unused.
  struct Anchor {
    ClockSetting setting;
    Instant host = 0, here = 0;
  };

  AccountClock(const Clock& host, Anchor anchor) : host_(host), anchor_(anchor) {}

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;

  [[nodiscard]] ClockSetting setting() const;
  [[nodiscard]] Anchor anchor() const;  // as if the setting had started now
  // Makes the clock run by this setting from now on. The clock starts at `now` or, in Mode::real, at the
  // host's time.
  void set(ClockSetting setting, Instant now);
  void set(Anchor anchor);  // as if the setting had started at the anchor
  // The clock stands still while it is being moved. stop() stops it and returns its time; `setting` is
  // the setting by which it will run afterwards. hold() sets it to an intermediate instant. set()
  // starts it again.
  Instant stop(ClockSetting setting);
  void hold(Instant now);

 private:
  const Clock& host_;
  [[nodiscard]] Instant read() const REQUIRES(mutex_);

  mutable Mutex mutex_;  // held for a few instructions
  Anchor anchor_ GUARDED_BY(mutex_);
  bool held_ GUARDED_BY(mutex_) = false;
};

// The host's time, regardless of accounts' clocks. Used for the deadlines of waits.
using RealTime = std::chrono::system_clock::time_point;
RealTime host_time();

// "2022-07-19T21:27:00.000Z"
std::string iso8601(Instant instant);

}  // namespace mayfly::engine
