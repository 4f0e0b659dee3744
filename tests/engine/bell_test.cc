#include "engine/base/bell.h"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("a wait on a bell returns immediately if the bell has rung since the ticket was taken", "[bell]") {
  Bell bell;
  const auto ticket = bell.ticket();
  bell.ring();
  bell.wait(ticket, std::nullopt);  // returns immediately

  const auto later = bell.ticket();
  std::thread ringer([&] { bell.ring(); });
  bell.wait(later, std::nullopt);
  ringer.join();
  CHECK(bell.ticket() == later + 1);
}

}  // namespace mayfly::testing
