#include "http/base/slow_lane.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/storage_fault.h"

namespace mayfly::testing {

TEST_CASE("a job that throws does not stop its thread from running the next job") {
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

namespace {

using http::Waiting;

void wait_until(const std::atomic<int>& value, int wanted) {
  while (value != wanted) std::this_thread::yield();
}

}  // namespace

TEST_CASE("an account uses at most half of a queue's threads and other accounts' jobs overtake its backlog") {
  compat::ServerMetrics metrics;
  http::SlowLane lane(1, metrics, {.locks = 1, .processors = 4});
  std::latch go_on(1);
  std::atomic<int> begun_of_first{0}, begun_of_second{0}, done{0};
  const auto job = [&](std::atomic<int>& begun) {
    return [&] {
      ++begun;
      go_on.wait();
      ++done;
    };
  };
  for (int i = 0; i < 10; ++i)
    REQUIRE(lane.line_up(Waiting::processors, "000000000001", {}, job(begun_of_first)));
  for (int i = 0; i < 2; ++i)
    REQUIRE(lane.line_up(Waiting::processors, "000000000002", {}, job(begun_of_second)));
  wait_until(begun_of_second, 2);
  wait_until(begun_of_first, 2);
  CHECK(metrics.of(compat::Meter::waiting_processors) == 12);
  go_on.count_down();
  wait_until(done, 12);
  while (metrics.of(compat::Meter::waiting_processors) > 0) std::this_thread::yield();
}

TEST_CASE("accounts take turns in a queue") {
  compat::ServerMetrics metrics;
  http::SlowLane lane(1, metrics, {.locks = 1, .processors = 1});
  std::latch go_on(1);
  std::string order;
  std::atomic<int> done{0};
  const auto line_up = [&](const std::string& account, char letter) {
    REQUIRE(lane.line_up(Waiting::locks, account, {}, [&, letter] {
      go_on.wait();
      order += letter;
      ++done;
    }));
  };
  for (int i = 0; i < 4; ++i) line_up("000000000001", 'a');
  for (int i = 0; i < 2; ++i) line_up("000000000002", 'b');
  line_up("000000000003", 'c');
  go_on.count_down();
  wait_until(done, 7);
  CHECK(order == "aabcaba");
}

TEST_CASE("a full queue delays neither the other queue nor waiting calls") {
  compat::ServerMetrics metrics;
  http::SlowLane lane(1, metrics, {.locks = 1, .processors = 1});
  std::latch go_on(1);
  std::atomic<int> done{0};
  for (int i = 0; i < 5; ++i)
    REQUIRE(lane.line_up(Waiting::locks, "000000000001", {}, [&] { go_on.wait(); }));
  REQUIRE(lane.line_up(Waiting::processors, "000000000001", {}, [&] { ++done; }));
  const auto place = lane.take(Waiting::calls, "000000000001");
  REQUIRE(place);
  REQUIRE(lane.run({}, [&] { ++done; }));
  wait_until(done, 2);
  go_on.count_down();
}

TEST_CASE("a job that has not started when the slow lane ends runs with its stop requested") {
  compat::ServerMetrics metrics;
  std::atomic<int> begun{0}, stopped{0};
  {
    http::SlowLane lane(1, metrics, {.locks = 1, .processors = 1});
    for (int i = 0; i < 3; ++i) {
      const std::stop_source stop;
      REQUIRE(lane.line_up(Waiting::locks, "000000000001", stop, [&, stop] {
        ++begun;
        while (!stop.stop_requested()) std::this_thread::yield();
        ++stopped;
      }));
    }
    wait_until(begun, 1);
  }
  CHECK(stopped == 3);
}

TEST_CASE("concurrent callers run each queued job exactly once") {
  compat::ServerMetrics metrics;
  http::SlowLane lane(1, metrics, {.locks = 3, .processors = 2});
  constexpr int callers = 4, jobs = 500;
  std::atomic<int> done{0}, inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, account = std::string(12, static_cast<char>('1' + caller))] {
      for (int i = 0; i < jobs; ++i) {
        const bool taken = lane.line_up(Waiting::locks, account, {}, [&] {
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
          --inside;
          ++done;
        });
        if (!taken) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait_until(done, callers * jobs);
  CHECK(most <= 3);
}

}  // namespace mayfly::testing
