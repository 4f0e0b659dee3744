#include "engine/timer_heap.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace mayfly::engine;

TEST_CASE("a table's timer is the earliest that was pushed", "[timer_heap]") {
  TimerHeap timers;
  CHECK_FALSE(timers.earliest());
  timers.push(1, 100);
  timers.push(1, 200);
  timers.push(2, 150);
  timers.push(2, 50);
  CHECK(timers.size() == 2);
  CHECK_FALSE(timers.pop_due(49));
  CHECK(timers.pop_due(50)->table == 2);
  const auto next = timers.pop_due(1000);
  CHECK(next->table == 1);
  CHECK(next->due == 100);
  CHECK(timers.size() == 0);
}

TEST_CASE("any number of timers of a table is one entry", "[timer_heap]") {
  TimerHeap timers;
  for (Instant due = 100'000; due > 0; --due) timers.push(1, due);
  CHECK(timers.size() == 1);
  CHECK(timers.earliest()->due == 1);
}

TEST_CASE("a forgotten table has no timer", "[timer_heap]") {
  TimerHeap timers;
  timers.push(1, 100);
  timers.push(2, 200);
  timers.forget(1);
  timers.forget(3);
  CHECK(timers.earliest()->table == 2);
}

TEST_CASE("only an earlier timer changes the ticket, so that a far one wakes nobody", "[timer_heap]") {
  TimerHeap timers;
  timers.push(1, 100);
  const auto ticket = timers.ticket();
  timers.push(1, 300);
  timers.push(2, 200);
  CHECK(timers.ticket() == ticket);
  timers.push(2, 50);
  CHECK(timers.ticket() != ticket);
}

TEST_CASE("a push between looking and waiting is not slept through", "[timer_heap]") {
  TimerHeap timers;
  const auto ticket = timers.ticket();
  timers.push(1, 1);
  timers.wait(ticket, std::nullopt);  // returns at once

  const auto later = timers.ticket();
  std::thread pusher([&] { timers.wake(); });
  timers.wait(later, std::nullopt);
  pusher.join();
  CHECK(timers.size() == 1);
}
