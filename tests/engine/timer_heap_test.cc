#include "engine/timer_heap.h"

#include <catch2/catch.hpp>

#include <thread>

#include "engine/expiry_mode.h"

using namespace mayfly::engine;

TEST_CASE("a table's timer is the earliest that was pushed", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  CHECK_FALSE(timers.earliest());
  timers.push({1, 100, 100});
  timers.push({1, 200, 200});
  timers.push({2, 150, 150});
  timers.push({2, 50, 50});
  CHECK(timers.size() == 2);
  CHECK_FALSE(timers.pop(49));
  CHECK(timers.pop(50)->table == 2);
  const auto next = timers.pop(1000);
  CHECK(next->table == 1);
  CHECK(next->due == 100);
  CHECK(timers.size() == 0);
}

TEST_CASE("tables have their turn by when they fire, not by when something is due", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  timers.push({1, 100, 900});
  timers.push({2, 200, 200});
  CHECK_FALSE(timers.pop(199));
  CHECK(timers.pop(1000)->table == 2);
  CHECK(timers.pop(1000)->table == 1);
}

TEST_CASE("what never fires is remembered, and never has its turn", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  timers.push({1, 100, never});
  CHECK_FALSE(timers.earliest());
  CHECK_FALSE(timers.pop(never - 1));
  CHECK(timers.of(1)->due == 100);
}

TEST_CASE("any number of timers of a table is one entry", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  for (Instant due = 100'000; due > 0; --due) timers.push({1, due, due});
  CHECK(timers.size() == 1);
  CHECK(timers.earliest()->due == 1);
}

TEST_CASE("a forgotten table has no timer", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  timers.push({1, 100, 100});
  timers.push({2, 200, 200});
  timers.forget(1);
  timers.forget(3);
  CHECK(timers.earliest()->table == 2);
}

TEST_CASE("only an earlier timer rings, so that a far one wakes nobody", "[timer_heap]") {
  Bell bell;
  TimerHeap timers(bell);
  timers.push({1, 100, 100});
  const auto ticket = bell.ticket();
  timers.push({1, 300, 300});
  timers.push({2, 200, 200});
  timers.push({3, 10, never});
  CHECK(bell.ticket() == ticket);
  timers.push({2, 50, 50});
  CHECK(bell.ticket() != ticket);
}

TEST_CASE("a ring between looking and waiting is not slept through", "[bell]") {
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
