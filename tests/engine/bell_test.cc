#include "engine/base/bell.h"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("a bell that rings between the look and the wait ends the wait", "[bell]") {
  Bell bell;
  const auto ticket = bell.ticket();
  bell.ring();
  bell.wait(ticket, std::nullopt);  // returns at once

  const auto later = bell.ticket();
  std::thread ringer([&] { bell.ring(); });
  bell.wait(later, std::nullopt);
  ringer.join();
  CHECK(bell.ticket() == later + 1);
}

}  // namespace mayfly::testing
