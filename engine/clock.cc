#include "engine/clock.h"

#include <cassert>
#include <cstdio>

namespace mayfly::engine {

std::chrono::system_clock::time_point host_time() { return std::chrono::system_clock::now(); }

Instant SystemClock::now() const {
  const Instant host =
      std::chrono::duration_cast<std::chrono::milliseconds>(host_time().time_since_epoch()).count();
  Instant latest = latest_.load(std::memory_order_relaxed);
  while (latest < host && !latest_.compare_exchange_weak(latest, host)) {
  }
  return latest < host ? host : latest;
}

std::optional<std::chrono::nanoseconds> SystemClock::real_time_until(Instant instant) const {
  const auto host = std::chrono::duration_cast<std::chrono::nanoseconds>(host_time().time_since_epoch());
  constexpr std::chrono::nanoseconds far = std::chrono::hours(24);  // instants beyond do not fit nanoseconds
  if (instant - now() > std::chrono::duration_cast<std::chrono::milliseconds>(far).count()) return far;
  const auto left = std::chrono::nanoseconds(std::chrono::milliseconds(instant)) - host;
  return left < std::chrono::nanoseconds::zero() ? std::chrono::nanoseconds::zero() : left;
}

std::optional<std::chrono::nanoseconds> ManualClock::real_time_until(Instant instant) const {
  if (instant <= now()) return std::chrono::nanoseconds::zero();
  return std::nullopt;
}

void ManualClock::set(Instant now) {
  assert(now >= now_.load());
  now_.store(now);
}

std::string iso8601(Instant instant) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(instant)};
  const sys_days day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss<milliseconds> clock{time - day};
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

}  // namespace mayfly::engine
