#include "cli/sweep/sweep_clock.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/calls/times.h"

namespace mayfly::sweep {

void ClockSkew::hear(const aws::HeardDate& date) {
  Bounds bounds{date.date - date.heard, date.date + 1000 + header_age_ms_max - date.asked};
  if (spans_.empty() || date.heard - spans_.back().began >= remembered_ms ||
      date.heard < spans_.back().began) {
    spans_.push_back({date.heard, bounds});
    if (spans_.size() > 2) spans_.pop_front();
    return;
  }
  Bounds& known = spans_.back().bounds;
  bounds = {std::max(known.least, bounds.least), std::min(known.most, bounds.most)};
  // If the bounds contradict each other, one of the clocks was set, so earlier bounds are useless.
  if (bounds.least > bounds.most) {
    spans_.clear();
    return hear(date);
  }
  known = bounds;
}

std::optional<ClockSkew::Bounds> ClockSkew::bounds() const {
  if (spans_.empty()) return std::nullopt;
  Bounds bounds = spans_.back().bounds;
  const Bounds& before = spans_.front().bounds;
  const Bounds both{std::max(bounds.least, before.least), std::min(bounds.most, before.most)};
  return both.least <= both.most ? both : bounds;
}

Expected<engine::Instant, std::string> GuardedHostClock::now() {
  const engine::Lock lock(mutex_);
  const engine::Instant now = host_.now();
  const auto bounds = skew_.bounds();
  if (!bounds) return now;
  if (bounds->most < -skew_max_ms_ || bounds->least > skew_max_ms_)
    return Unexpected{"this machine's clock and the endpoint's differ by " +
                      std::to_string((bounds->most < 0 ? -bounds->most : bounds->least) / 1000) +
                      " s or more (limit --clock-skew-max). Nothing is deleted until they agree"};
  // If the host's clock is certainly ahead, returns the latest time that cannot be later than the time of the
  // endpoint's clock.
  return bounds->most < 0 ? now + bounds->least : now;
}

void GuardedHostClock::hear(const aws::HeardDate& date) {
  const engine::Lock lock(mutex_);
  skew_.hear(date);
}

Expected<engine::Instant, std::string> MayflyClock::now() {
  const auto answer = client_.call_control("GET", "/_mayfly/clock");
  if (!answer) return Unexpected{"--clock mayfly: " + answer.error().sentence()};
  const auto now = compat::control::parse_time(std::string(json::string_member(*answer, "now").value_or("")));
  if (!now)
    return Unexpected{
        std::string("--clock mayfly: the endpoint does not report a time. Is it a Mayfly server?")};
  return *now;
}

}  // namespace mayfly::sweep
