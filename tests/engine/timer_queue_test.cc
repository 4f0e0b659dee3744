#include "engine/time/timer_queue.h"

#include <catch2/catch.hpp>
#include <thread>

#include "engine/schema/expiry_mode.h"

namespace mayfly::testing {

using namespace engine;

TEST_CASE("a table's timer is the earliest one that was pushed", "[timer_queue]") {
  TimerQueue timers([] {});
  CHECK_FALSE(timers.earliest());
  timers.push({1, 100, 100});
  timers.push({1, 200, 200});
  timers.push({2, 150, 150});
  timers.push({2, 50, 50});
  CHECK(timers.size() == 2);
  CHECK_FALSE(timers.look_firing(49));
  const auto first = timers.look_firing(50);
  CHECK(first->timer.table == 2);
  timers.settle(*first, std::nullopt);
  const auto next = timers.look_firing(1000);
  CHECK(next->timer.table == 1);
  CHECK(next->timer.due == 100);
  timers.settle(*next, std::nullopt);
  CHECK(timers.size() == 0);
}

TEST_CASE("tables take turns in the order in which their timers fire and not in the order of their due times",
          "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 900});
  timers.push({2, 200, 200});
  CHECK_FALSE(timers.look_firing(199));
  const auto first = timers.look_firing(1000);
  CHECK(first->timer.table == 2);
  timers.settle(*first, std::nullopt);
  CHECK(timers.look_firing(1000)->timer.table == 1);
  CHECK(timers.firing(899).empty());
  CHECK(timers.firing(900) == std::vector<TableId>{1});
}

TEST_CASE("a timer that never fires is kept but never gets a turn", "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, never});
  CHECK_FALSE(timers.earliest());
  CHECK_FALSE(timers.look_firing(never - 1));
  CHECK_FALSE(timers.look_earliest());
  CHECK(timers.of(1)->due == 100);
  CHECK(timers.look(1)->timer.due == 100);
}

TEST_CASE("settling a look does not move the timer past a timer that was pushed since the look began",
          "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 100});
  const auto look = timers.look(1);
  timers.push({1, 300, 300});  // pushed after the index was read, and later than the current timer
  timers.push({1, 250, 250});
  timers.settle(*look, TimerQueue::Timer{1, 500, 500});
  CHECK(timers.of(1)->due == 250);

  const auto again = timers.look(1);
  timers.push({1, 700, 700});
  timers.settle(*again, TimerQueue::Timer{1, 500, 500});
  CHECK(timers.of(1)->due == 500);

  const auto last = timers.look(1);
  timers.push({1, 700, 700});
  timers.settle(*last, std::nullopt);
  CHECK(timers.of(1)->due == 700);
}

TEST_CASE("a look is whole until a timer is pushed or another look begins", "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 100});
  const auto look = timers.look(1);
  CHECK(timers.is_whole(*look));
  timers.settle(*look, TimerQueue::Timer{1, 200, 200});
  CHECK(timers.is_whole(*look));  // the look can continue
  timers.push({1, 300, 300});
  CHECK_FALSE(timers.is_whole(*look));
  CHECK(timers.is_current(*look));

  const auto again = timers.look(1);
  CHECK(timers.is_whole(*again));
  const auto other = timers.look(1);
  CHECK_FALSE(timers.is_whole(*again));
  timers.settle(*other, std::nullopt);
  CHECK_FALSE(timers.is_whole(*other));  // settling the look removed its timer
}

TEST_CASE("a look that is never settled leaves the timer unchanged", "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 100});
  REQUIRE(timers.look_firing(100));
  CHECK(timers.of(1)->due == 100);
  CHECK(timers.look_firing(100)->timer.due == 100);
}

TEST_CASE("an outdated look settles nothing", "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 100});
  const auto early = timers.look(1), late = timers.look(1);
  CHECK_FALSE(timers.is_current(*early));
  CHECK(timers.is_current(*late));
  timers.settle(*early, TimerQueue::Timer{1, 900, 900});
  CHECK(timers.of(1)->due == 100);
  timers.settle(*late, TimerQueue::Timer{1, 200, 200});
  CHECK(timers.of(1)->due == 200);
  timers.forget(1);
  CHECK_FALSE(timers.is_current(*late));
  timers.settle(*late, TimerQueue::Timer{1, 900, 900});
  CHECK(timers.size() == 0);
}

TEST_CASE("a table has one entry however many timers are pushed", "[timer_queue][holds]") {
  TimerQueue timers([] {});
  for (Instant due = 100'000; due > 0; --due) timers.push({1, due, due});
  CHECK(timers.size() == 1);
  CHECK(timers.earliest()->due == 1);
}

TEST_CASE("a forgotten table has no timer", "[timer_queue]") {
  TimerQueue timers([] {});
  timers.push({1, 100, 100});
  timers.push({2, 200, 200});
  timers.forget(1);
  timers.forget(3);
  CHECK(timers.earliest()->table == 2);
}

TEST_CASE("only a timer that fires before all others wakes the reaper", "[timer_queue]") {
  int woken = 0;
  TimerQueue timers([&] { ++woken; });
  timers.push({1, 100, 100});
  CHECK(woken == 1);
  timers.push({1, 300, 300});
  timers.push({2, 200, 200});
  timers.push({3, 10, never});
  CHECK(woken == 1);
  timers.push({2, 50, 50});
  CHECK(woken == 2);
}

}  // namespace mayfly::testing
