#include "http/slow_lane.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <new>
#include <thread>

#include "engine/storage_fault.h"

namespace mayfly::testing {

TEST_CASE("a job that fails costs itself, and its thread does the next") {
  compat::ServerMetrics metrics;
  http::SlowLane lane(1, metrics);
  std::atomic<bool> done{false};
  {
    const auto place = lane.take(http::Waiting::calls, "000000000042");
    REQUIRE(place);
    REQUIRE(lane.run({}, [] { throw std::bad_alloc(); }));
    REQUIRE(lane.run({}, [] { throw engine::StorageFault("the disk is full"); }));
    REQUIRE(lane.run({}, [&] { done = true; }));
    while (!done) std::this_thread::yield();
  }
  CHECK(lane.take(http::Waiting::calls, "000000000042"));
}

}  // namespace mayfly::testing
