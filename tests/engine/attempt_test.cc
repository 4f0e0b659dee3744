#include "engine/base/attempt.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("attempt returns the failure handler's result for a storage fault or a failed allocation") {
  const auto told = [](std::string_view why) { return std::string(why); };
  CHECK(attempt([] { return std::string("done"); }, told) == "done");
  CHECK(attempt([]() -> std::string { throw StorageFault("the disk is full"); }, told) == "the disk is full");
  CHECK(attempt([]() -> std::string { throw std::bad_alloc(); }, told) == "out of memory");
}

TEST_CASE("attempt catches only storage faults and failed allocations") {
  const auto attempted = [](auto work) { attempt(work, [](std::string_view) {}); };
  CHECK_THROWS_AS(attempted([] { throw std::logic_error("a mistake"); }), std::logic_error);
  CHECK_THROWS_AS(attempted([] { throw std::runtime_error("a fault, but not storage's"); }),
                  std::runtime_error);
  CHECK_THROWS_AS(attempted([] { throw 1; }), int);
}

}  // namespace mayfly::testing
