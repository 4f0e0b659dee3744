#include "engine/storage_jobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <thread>

namespace mayfly::testing {

using engine::StorageJobs;
using std::chrono::hours;
using std::chrono::milliseconds;
using Priority = rocksdb::Env::Priority;

namespace {

constexpr auto flush = Priority::HIGH, compaction = Priority::LOW;

// Keeps jobs until they are told to run, in the calling thread.
class KeptJobs final : public rocksdb::EnvWrapper {
 public:
  KeptJobs() : EnvWrapper(rocksdb::Env::Default()) {}

  void Schedule(void (*run)(void*), void* argument, Priority, void*, void (*unscheduled)(void*)) override {
    jobs_.push_back({run, unscheduled, argument});
  }
  void run_next() {
    const Job job = take();
    job.run(job.argument);
  }
  void drop_next() {
    const Job job = take();
    job.unscheduled(job.argument);
  }

 private:
  struct Job {
    void (*run)(void*);
    void (*unscheduled)(void*);
    void* argument;
  };
  Job take() {
    const Job job = jobs_.front();
    jobs_.pop_front();
    return job;
  }
  std::deque<Job> jobs_;
};

struct Fixture {
  std::shared_ptr<StorageJobs> jobs = std::make_shared<StorageJobs>();
  KeptJobs env;
  std::function<void()> body = [] {};
  int runs = 0, dropped = 0;

  void schedule(Priority priority) {
    jobs->schedule(
        env, [](void* self) { static_cast<Fixture*>(self)->run(); }, this, priority, this,
        [](void* self) { ++static_cast<Fixture*>(self)->dropped; });
  }
  void run() {
    ++runs;
    body();
  }
  // Whether an error of another thread would wait now.
  [[nodiscard]] bool waits() const {
    bool waits = false;
    std::thread other([&] { waits = !jobs->await_begun(milliseconds(0)); });
    other.join();
    return waits;
  }
};

}  // namespace

TEST_CASE("an error waits until a flush has ended, and until a compaction has begun") {
  Fixture world;
  CHECK(!world.waits());
  world.schedule(flush);
  CHECK(world.waits());
  world.body = [&] {
    world.jobs->begun();  // says nothing of a flush: its end may schedule another
    CHECK(world.waits());
  };
  world.env.run_next();
  CHECK(!world.waits());
  world.schedule(compaction);
  CHECK(world.waits());
  world.body = [&] {
    CHECK(world.waits());
    world.jobs->begun();
    CHECK(!world.waits());
  };
  world.env.run_next();
  CHECK(world.runs == 2);
  CHECK(!world.waits());
}

TEST_CASE("a job's own error waits for other jobs, not for itself") {
  Fixture world;
  for (const auto own : {flush, compaction}) {
    world.schedule(own);
    world.body = [&] {
      CHECK(world.jobs->await_begun(hours(1)));
      CHECK(!world.waits());
    };
    world.env.run_next();
  }
  world.schedule(compaction);
  world.schedule(flush);
  world.body = [&] {
    if (world.runs > 3) return;
    std::thread flushes([&] { world.env.run_next(); });
    CHECK(world.jobs->await_begun(hours(1)));
    CHECK(world.runs == 4);
    flushes.join();
  };
  world.env.run_next();
}

TEST_CASE("what is scheduled no more is not waited for") {
  Fixture world;
  world.schedule(flush);
  world.schedule(compaction);
  world.env.drop_next();
  CHECK(world.waits());
  world.env.drop_next();
  CHECK(!world.waits());
  CHECK(world.dropped == 2);
  CHECK(world.runs == 0);
}

TEST_CASE("a job may outlive who scheduled it, and who waits is told of its end") {
  Fixture world;
  world.schedule(flush);
  std::atomic<bool> told = false;
  std::thread waiter([&, jobs = world.jobs] { told = jobs->await_begun(hours(1)); });
  world.jobs.reset();
  CHECK(!told);
  world.env.run_next();
  waiter.join();
  CHECK(told);
}

}  // namespace mayfly::testing
