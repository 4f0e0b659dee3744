// Tests how tasks share a few threads.
#include "engine/base/scheduler.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "engine/base/clock.h"
#include "engine/storage/storage.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using engine::ThreadScheduler;

class Work final : public engine::Task {
 public:
  using engine::Task::Next;
  explicit Work(std::function<Next()> work) : work_(std::move(work)) {}

  std::string problem;  // why the task's last failed step failed

 private:
  Next step() override { return work_(); }
  Next failed(std::string_view why) override {
    problem = why;
    return Next::at_once();
  }
  const std::function<Next()> work_;
};

void eventually(const std::function<bool()>& condition) {
  const auto deadline = engine::host_time() + 20s;
  while (!condition() && engine::host_time() < deadline) std::this_thread::yield();
  REQUIRE(condition());
}

}  // namespace

TEST_CASE("a thousand waiting tasks share a few threads and occupy none", "[holds]") {
  ThreadScheduler scheduler(3);
  CHECK(scheduler.threads() == 0);
  std::atomic<int> steps{0};
  std::vector<std::shared_ptr<Work>> tasks;
  for (int i = 0; i < 1000; ++i) {
    tasks.push_back(std::make_shared<Work>([&] {
      ++steps;
      return Work::Next::when_woken();
    }));
  }
  for (const auto& task : tasks) scheduler.wake(task);
  eventually([&] { return steps == 1000; });
  for (const auto& task : tasks) scheduler.wake(task);
  eventually([&] { return steps == 2000; });
  CHECK(scheduler.threads() <= 3);
}

TEST_CASE("a task runs one step at a time and a wake-up during a step causes another step") {
  ThreadScheduler scheduler(4);
  std::atomic<int> inside{0}, met{0};
  std::atomic<std::int64_t> wanted{0}, seen{0};
  const auto task = std::make_shared<Work>([&] {
    if (++inside > 1) ++met;
    seen = wanted.load();
    --inside;
    return Work::Next::when_woken();
  });
  std::vector<std::jthread> wakers;
  for (int i = 0; i < 4; ++i) {
    wakers.emplace_back([&] {
      for (int j = 0; j < 20'000; ++j) {
        ++wanted;
        scheduler.wake(task);
      }
    });
  }
  wakers.clear();
  eventually([&] { return seen == 80'000; });
  CHECK(met == 0);
}

TEST_CASE("a task whose step fails is told why and continues") {
  ThreadScheduler scheduler(1);
  std::atomic<int> steps{0};
  const auto task = std::make_shared<Work>([&]() -> Work::Next {
    switch (++steps) {
      case 1: throw engine::StorageFault("the disk is full");
      case 2: throw std::bad_alloc();
      default: return Work::Next::when_woken();
    }
  });
  scheduler.wake(task);
  eventually([&] { return steps == 3; });
  scheduler.end();
  CHECK(task->problem == "out of memory");
}

TEST_CASE("a task sleeps until its alarm is due or the task is woken") {
  ThreadScheduler scheduler(1);
  std::atomic<int> steps{0};
  const auto soon = std::make_shared<Work>(
      [&] { return ++steps < 3 ? Work::Next::at(engine::host_time() + 1ms) : Work::Next::when_woken(); });
  scheduler.wake(soon);
  eventually([&] { return steps == 3; });
  std::atomic<int> late_steps{0};
  const auto late = std::make_shared<Work>([&] {
    ++late_steps;
    return Work::Next::at(engine::host_time() + 1h);
  });
  scheduler.wake(late);
  eventually([&] { return late_steps == 1; });
  scheduler.wake(late);
  eventually([&] { return late_steps == 2; });
}

TEST_CASE("a task that always has more to do does not starve other tasks") {
  ThreadScheduler scheduler(1);
  std::atomic<bool> other{false};
  std::atomic<std::int64_t> turns{0};
  const auto busy = std::make_shared<Work>([&] {
    ++turns;
    return Work::Next::at_once();
  });
  const auto task = std::make_shared<Work>([&] {
    other = true;
    return Work::Next::when_woken();
  });
  const auto alarmed = std::make_shared<Work>([&, rung = false]() mutable {
    return std::exchange(rung, true) ? Work::Next::when_woken() : Work::Next::at(engine::host_time());
  });
  scheduler.wake(busy);
  scheduler.wake(task);
  scheduler.wake(alarmed);
  eventually([&] { return other.load(); });
  scheduler.end();
  const auto at_end = turns.load();
  scheduler.wake(busy);
  CHECK(turns == at_end);
}

}  // namespace mayfly::testing
