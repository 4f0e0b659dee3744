#include "os/event.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace mayfly::testing {

using std::chrono::milliseconds;

TEST_CASE("an event wakes all waiting threads and stays set") {
  os::Event event;
  CHECK_FALSE(event.wait(milliseconds(0)));
  CHECK_FALSE(event.wait(milliseconds(2)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { CHECK(event.wait()); });
  event.set();
  for (auto& thread : threads) thread.join();
  CHECK(event.wait(milliseconds(0)));
  event.set();
  CHECK(event.wait());
}

}  // namespace mayfly::testing
