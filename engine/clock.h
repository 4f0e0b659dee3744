// The only place that asks for the time.
//
// What DynamoDB would stamp or time follows an account's Clock: TTL, creation and stream times, windows.
// Instants are milliseconds since the Unix epoch, UTC.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/mutex.h"

namespace mayfly::engine {

using Instant = std::int64_t;  // ms since the epoch

// 9999-12-31T23:59:59.999Z. Clocks end here, and a time to live that is later never comes.
inline constexpr Instant last_instant = 253'402'300'799'999;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // How long, in real time, until now() reaches `instant` if nobody touches the clock; nothing if never.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const = 0;
};

// The host's clock. A host clock that steps back is held: now() never decreases.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;

 private:
  mutable std::atomic<Instant> latest_{0};
};

// A host's clock for tests: stands still until it is told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant now) : now_(now) {}
  [[nodiscard]] Instant now() const override { return now_.load(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;
  // Requires: not earlier than now().
  void set(Instant now);

 private:
  std::atomic<Instant> now_;
};

// How an account's time goes.
struct ClockSetting {
  enum class Mode : std::uint8_t {
    real,    // the host's time
    frozen,  // stands still until it is moved
    offset,  // as fast as the host's, but elsewhere
    rate,    // so many times as fast
  };
  Mode mode = Mode::real;
  double rate = 1;  // of Mode::rate: positive
  friend bool operator==(const ClockSetting&, const ClockSetting&) = default;
};

// One account's time, by its setting and the host's clock. Nothing here deletes what falls due when it is
// moved: that is Database::advance.
//
// Thread-safe.
class AccountClock final : public Clock {
 public:
  // Where a setting began: then the host's clock said `host` and this one `here`. Real time has no beginning.
  struct Anchor {
    ClockSetting setting;
    Instant host = 0, here = 0;
  };

  AccountClock(const Clock& host, Anchor anchor) : host_(host), anchor_(anchor) {}

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;

  [[nodiscard]] ClockSetting setting() const;
  [[nodiscard]] Anchor anchor() const;  // as if it had begun now
  // Goes by this setting from now on, beginning at `now` (in real time: at the host's).
  void set(ClockSetting setting, Instant now);
  void set(Anchor anchor);  // as if since then
  // While the clock is being moved it stands still: where it was when that began, and at the instants that it
  // passes. Returns where that is; `setting` is the one that it will go on by.
  Instant stop(ClockSetting setting);
  void hold(Instant now);

 private:
  const Clock& host_;
  [[nodiscard]] Instant read() const REQUIRES(mutex_);

  mutable Mutex mutex_;  // for a few instructions
  Anchor anchor_ GUARDED_BY(mutex_);
  bool held_ GUARDED_BY(mutex_) = false;
};

// The host's time, whatever an account's clock says: for deadlines of waits.
using RealTime = std::chrono::system_clock::time_point;
RealTime host_time();

// "2022-07-19T21:27:00.000Z"
std::string iso8601(Instant instant);

}  // namespace mayfly::engine
