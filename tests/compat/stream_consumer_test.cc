#include <catch2/catch.hpp>

#include "tests/support/engine_world.h"
#include "tests/support/stream_run.h"

namespace mayfly::testing {

namespace {

TEST_CASE("writers and a consumer run until they are killed", "[.victim]") { play_first_half(); }

TEST_CASE("a consumer sees each of 20000 records once and in order per item despite splits and kill -9",
          "[streams][holds]") {
  const TemporaryDirectory directory;
  const StreamOutcome outcome =
      run_stream({.directory = directory.path() + "/data",
                  .kill_after = 9000,
                  .first_half = {"writers and a consumer run until they are killed"}});
  CHECK(outcome.wrong == "");
  CHECK(outcome.seen == 20'000);
  CHECK(outcome.acknowledged_before_kill >= 9000);
  CHECK(outcome.seen_before_kill > 0);
  CHECK(outcome.shards > 30);
}

}  // namespace

}  // namespace mayfly::testing
