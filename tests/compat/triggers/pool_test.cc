// Tasks that share a few threads.
#include "compat/triggers/pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "engine/clock.h"

namespace mayfly::testing {
namespace {

using namespace std::chrono_literals;
using compat::triggers::Pool;

class Task final : public Pool::Task {
 public:
  using Pool::Task::Next;
  explicit Task(std::function<Next()> work) : work_(std::move(work)) {}

 private:
  Next step() noexcept override { return work_(); }
  const std::function<Next()> work_;
};

void eventually(const std::function<bool()>& condition) {
  const auto deadline = engine::host_time() + 20s;
  while (!condition() && engine::host_time() < deadline) std::this_thread::yield();
  REQUIRE(condition());
}

}  // namespace

TEST_CASE("a thousand tasks that wait share a few threads, and hold none") {
  Pool pool(3);
  CHECK(pool.threads() == 0);
  std::atomic<int> steps{0};
  std::vector<std::shared_ptr<Task>> tasks;
  for (int i = 0; i < 1000; ++i) {
    tasks.push_back(std::make_shared<Task>([&] {
      ++steps;
      return Task::Next::when_woken();
    }));
  }
  for (const auto& task : tasks) pool.wake(task);
  eventually([&] { return steps == 1000; });
  for (const auto& task : tasks) pool.wake(task);
  eventually([&] { return steps == 2000; });
  CHECK(pool.threads() <= 3);
}

TEST_CASE("a task is never in two steps at once, and what wakes it during a step brings another") {
  Pool pool;
  std::atomic<int> inside{0}, met{0};
  std::atomic<std::int64_t> wanted{0}, seen{0};
  const auto task = std::make_shared<Task>([&] {
    if (++inside > 1) ++met;
    seen = wanted.load();
    --inside;
    return Task::Next::when_woken();
  });
  std::vector<std::jthread> wakers;
  for (int i = 0; i < 4; ++i) {
    wakers.emplace_back([&] {
      for (int j = 0; j < 20'000; ++j) {
        ++wanted;
        pool.wake(task);
      }
    });
  }
  wakers.clear();
  eventually([&] { return seen == 80'000; });
  CHECK(met == 0);
}

TEST_CASE("a task sleeps until its alarm, unless it is woken before") {
  Pool pool(1);
  std::atomic<int> steps{0};
  const auto soon = std::make_shared<Task>(
      [&] { return ++steps < 3 ? Task::Next::at(engine::host_time() + 1ms) : Task::Next::when_woken(); });
  pool.wake(soon);
  eventually([&] { return steps == 3; });
  std::atomic<int> late_steps{0};
  const auto late = std::make_shared<Task>([&] {
    ++late_steps;
    return Task::Next::at(engine::host_time() + 1h);
  });
  pool.wake(late);
  eventually([&] { return late_steps == 1; });
  pool.wake(late);
  eventually([&] { return late_steps == 2; });
}

TEST_CASE("tasks that always have more to do leave the others their turns") {
  Pool pool(1);
  std::atomic<bool> other{false};
  std::atomic<std::int64_t> turns{0};
  const auto busy = std::make_shared<Task>([&] {
    ++turns;
    return Task::Next::at_once();
  });
  const auto task = std::make_shared<Task>([&] {
    other = true;
    return Task::Next::when_woken();
  });
  const auto alarmed = std::make_shared<Task>([&, rung = false]() mutable {
    return std::exchange(rung, true) ? Task::Next::when_woken() : Task::Next::at(engine::host_time());
  });
  pool.wake(busy);
  pool.wake(task);
  pool.wake(alarmed);
  eventually([&] { return other.load(); });
  pool.end();
  const auto at_end = turns.load();
  pool.wake(busy);
  CHECK(turns == at_end);
}

}  // namespace mayfly::testing
