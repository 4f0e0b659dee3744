// The only place that asks for the time.
//
// What DynamoDB would stamp or time follows an account's Clock: TTL, creation and stream times, windows.
// Instants are milliseconds since the Unix epoch, UTC.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::engine {

using Instant = std::int64_t;  // ms since the epoch

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

// A clock that stands still until it is told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant now) : now_(now) {}
  [[nodiscard]] Instant now() const override { return now_.load(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> real_time_until(Instant instant) const override;
  // Later instants only. Who moves a clock that a Database reads goes through Database::advance, which
  // deletes what falls due on the way.
  void set(Instant now);

 private:
  std::atomic<Instant> now_;
};

// The host's time, whatever an account's clock says: for deadlines of waits.
std::chrono::system_clock::time_point host_time();

// "2022-07-19T21:27:00.000Z"
std::string iso8601(Instant instant);

}  // namespace mayfly::engine
