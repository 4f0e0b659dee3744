#include "engine/time/expiry_stats.h"

#include <catch2/catch.hpp>
#include <string>

namespace mayfly::testing {

using engine::ExpiryStats;

TEST_CASE("only a limited number of deletions and only the latest deletion of each key are remembered") {
  ExpiryStats stats;
  CHECK_FALSE(stats.last_of("a"));
  stats.record("a", {.due = 1000, .at = 1001, .born_due = false});
  stats.record("a", {.due = 2000, .at = 2000, .born_due = false});
  CHECK(stats.last_of("a")->due == 2000);
  for (std::size_t i = 0; i < ExpiryStats::remembered_max; ++i)
    stats.record(std::to_string(i),
                 {.due = 3000, .at = 3000 + static_cast<engine::Instant>(i), .born_due = false});
  CHECK_FALSE(stats.last_of("a"));
  CHECK(stats.last_of("0")->at == 3000);
  stats.record("0", {.due = 5000, .at = 5000, .born_due = false});
  CHECK(stats.last_of("0")->due == 5000);
  CHECK_FALSE(stats.last_of("1000"));
}

TEST_CASE("a deletion of an item that was already due when written is counted but not as late") {
  ExpiryStats stats;
  stats.record("a", {.due = 1000, .at = 90'000'000, .born_due = true});
  stats.record("b", {.due = 1000, .at = 1007, .born_due = false});
  CHECK(stats.deleted() == 2);
  CHECK(stats.born_due() == 1);
  CHECK(stats.lag_ms_max() == 7);
  CHECK(stats.last_of("a")->born_due);
}

}  // namespace mayfly::testing
