#include "engine/base/clock.h"

#include <catch2/catch.hpp>
#include <limits>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("instants are formatted as on AWS", "[clock]") {
  CHECK(iso8601(1'658'266'020'000) == "2022-07-19T21:27:00.000Z");
  CHECK(iso8601(0) == "1970-01-01T00:00:00.000Z");
  CHECK(iso8601(1'709'251'199'999) == "2024-02-29T23:59:59.999Z");
}

TEST_CASE("a manual clock stands still until it is set to a later instant", "[clock]") {
  ManualClock clock(1000);
  CHECK(clock.now() == 1000);
  CHECK_FALSE(clock.real_time_until(1001));
  CHECK(clock.real_time_until(1000) == std::chrono::nanoseconds::zero());
  clock.set(1001);
  CHECK(clock.real_time_until(1001) == std::chrono::nanoseconds::zero());
}

TEST_CASE("the host's clock reports at most 24 hours as the time until an instant", "[clock]") {
  const SystemClock clock;
  const Instant now = clock.now();
  CHECK(clock.now() >= now);
  CHECK(clock.real_time_until(now - 1000) == std::chrono::nanoseconds::zero());
  CHECK(*clock.real_time_until(now + 1'000'000) <= std::chrono::seconds(1000));
  CHECK(*clock.real_time_until(std::numeric_limits<Instant>::max()) == std::chrono::hours(24));
}

}  // namespace mayfly::testing
