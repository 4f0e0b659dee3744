#include "compat/request_memory.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mayfly::testing {

using compat::RequestMemory;

TEST_CASE("large requests wait for memory and small requests neither wait nor count toward the limit") {
  const std::string large(RequestMemory::small_bytes_max + 1, ' ');
  const std::string small(RequestMemory::small_bytes_max, ' ');
  RequestMemory memory(2 * RequestMemory::bytes_per_byte * large.size());
  std::optional<RequestMemory::Room> first(memory.room_for(large));
  const auto second = memory.room_for(large);
  const auto third = memory.room_for(small);

  std::atomic<bool> came{false};
  std::thread waits([&] {
    const auto fourth = memory.room_for(large);
    came = true;
  });
  CHECK_FALSE(came);
  first.reset();
  waits.join();
  CHECK(came);
}

TEST_CASE("a request larger than the whole limit runs alone") {
  const std::string large(RequestMemory::small_bytes_max + 1, ' ');
  RequestMemory memory(1);
  for (int i = 0; i < 2; ++i) const auto room = memory.room_for(large);
}

TEST_CASE("concurrent callers never exceed the memory limit for parsed requests") {
  constexpr int rooms = 3, callers = 8, requests = 200;
  const std::string large(RequestMemory::small_bytes_max + 1, ' ');
  RequestMemory memory(rooms * RequestMemory::bytes_per_byte * large.size());
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&] {
      for (int i = 0; i < requests; ++i) {
        const auto room = memory.room_for(large);
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most >= 1);
  CHECK(most <= rooms);
}

}  // namespace mayfly::testing
