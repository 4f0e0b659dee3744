#include "engine/base/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/base/check.h"
#include "engine/base/stopwatch.h"

namespace mayfly::engine {

std::chrono::system_clock::time_point host_time() { return std::chrono::system_clock::now(); }

std::chrono::nanoseconds Stopwatch::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

Instant SystemClock::now() const {
  const Instant host =
      std::chrono::duration_cast<std::chrono::milliseconds>(host_time().time_since_epoch()).count();
  Instant latest = latest_.load(std::memory_order_relaxed);
  while (latest < host && !latest_.compare_exchange_weak(latest, host)) {}
  return latest < host ? host : latest;
}

std::optional<std::chrono::nanoseconds> SystemClock::real_time_until(Instant instant) const {
  const auto host = std::chrono::duration_cast<std::chrono::nanoseconds>(host_time().time_since_epoch());
  // The time until a much later instant could overflow a count of nanoseconds.
  constexpr std::chrono::nanoseconds far = std::chrono::hours(24);
  if (instant - now() > std::chrono::duration_cast<std::chrono::milliseconds>(far).count()) return far;
  const auto left = std::chrono::nanoseconds(std::chrono::milliseconds(instant)) - host;
  return left < std::chrono::nanoseconds::zero() ? std::chrono::nanoseconds::zero() : left;
}

std::optional<std::chrono::nanoseconds> ManualClock::real_time_until(Instant instant) const {
  if (instant <= now()) return std::chrono::nanoseconds::zero();
  return std::nullopt;
}

void ManualClock::set(Instant now) {
  MAYFLY_CHECK(now >= now_.load());
  now_.store(now);
}

// --- AccountClock

namespace {

constexpr Instant far_ms = 24 * 3600 * 1000;  // callers that wait longer check again after this time

// The host's clock may have been set back, perhaps while the server was down. In that case, no time counts as
// elapsed.
Instant elapsed_since(Instant begin, Instant now) { return now > begin ? now - begin : 0; }

}  // namespace

Instant AccountClock::now() const {
  const Lock lock(mutex_);
  return read();
}

Instant AccountClock::read() const {
  if (held_) return anchor_.here;
  switch (anchor_.setting.mode) {
    case ClockSetting::Mode::real: return host_.now();
    case ClockSetting::Mode::frozen: return anchor_.here;
    case ClockSetting::Mode::offset:
      return std::min(anchor_.here + elapsed_since(anchor_.host, host_.now()), last_instant);
    case ClockSetting::Mode::rate: break;
  }
  const double elapsed_ms = static_cast<double>(elapsed_since(anchor_.host, host_.now()));
  const double left_ms = static_cast<double>(last_instant - anchor_.here);
  return anchor_.here + static_cast<Instant>(std::min(elapsed_ms * anchor_.setting.rate, left_ms));
}

std::optional<std::chrono::nanoseconds> AccountClock::real_time_until(Instant instant) const {
  const Instant left = instant - now();
  if (left <= 0) return std::chrono::nanoseconds::zero();
  const Lock lock(mutex_);
  if (held_) return std::nullopt;
  switch (anchor_.setting.mode) {
    case ClockSetting::Mode::real: return host_.real_time_until(instant);
    case ClockSetting::Mode::frozen: return std::nullopt;
    case ClockSetting::Mode::offset:
      if (left > far_ms) return std::chrono::milliseconds(far_ms);
      return host_.real_time_until(anchor_.host + (instant - anchor_.here));
    case ClockSetting::Mode::rate: break;
  }
  const double rate = anchor_.setting.rate;
  if (static_cast<double>(left) / rate > static_cast<double>(far_ms))
    return std::chrono::milliseconds(far_ms);
  const double since_anchor_ms = std::ceil(static_cast<double>(instant - anchor_.here) / rate);
  return host_.real_time_until(anchor_.host + static_cast<Instant>(since_anchor_ms));
}

ClockSetting AccountClock::setting() const {
  const Lock lock(mutex_);
  return anchor_.setting;
}

AccountClock::Anchor AccountClock::anchor() const {
  const Instant now = this->now();
  return {setting(), host_.now(), now};
}

void AccountClock::set(ClockSetting setting, Instant now) { set(Anchor{setting, host_.now(), now}); }

void AccountClock::set(Anchor anchor) {
  const Lock lock(mutex_);
  anchor_ = anchor;
  held_ = false;
}

Instant AccountClock::stop(ClockSetting setting) {
  const Lock lock(mutex_);
  const Instant now = read();
  anchor_ = {setting, host_.now(), now};
  held_ = true;
  return now;
}

void AccountClock::hold(Instant now) {
  const Lock lock(mutex_);
  anchor_.host = host_.now();
  anchor_.here = now;
  held_ = true;
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
