#include "engine/storage/storage_jobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

namespace mayfly::testing {

using engine::StorageJobs;
using std::chrono::hours;
using std::chrono::milliseconds;
using Priority = rocksdb::Env::Priority;

namespace {

constexpr auto flush = Priority::HIGH, compaction = Priority::LOW;

// Keeps jobs until the test runs them, in the calling thread.
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
  void drop_all() {
    while (!jobs_.empty()) drop_next();
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

  ~Fixture() {
    if (jobs) jobs->release_for_good();  // a held flush keeps `jobs` alive
    env.drop_all();
  }

  void schedule(Priority priority) {
    jobs->schedule(
        env, [](void* self) { static_cast<Fixture*>(self)->run(); }, this, priority, this,
        [](void* self) { ++static_cast<Fixture*>(self)->dropped; });
  }
  void run() {
    ++runs;
    body();
  }
  // Returns whether another thread that hits an error would have to wait now.
  [[nodiscard]] bool waits() const {
    bool waits = false;
    std::thread other([&] { waits = !jobs->hold(milliseconds(0)); });
    other.join();
    return waits;
  }
};

}  // namespace

TEST_CASE("after an error hold() waits only for a flush that is running but has not begun its work") {
  Fixture world;
  world.schedule(compaction);
  CHECK(!world.waits());
  world.body = [&] { CHECK(!world.waits()); };
  world.env.run_next();
  CHECK(world.runs == 1);
  static_cast<void>(world.jobs->begin_resuming());
  world.schedule(flush);
  world.body = [&] {
    CHECK(world.waits());
    world.jobs->begun();
    CHECK(!world.waits());
  };
  world.env.run_next();
  CHECK(world.runs == 2);
  CHECK(!world.waits());
}

TEST_CASE("after an error hold() does not wait for a flush that has ended without beginning its work") {
  Fixture world;
  world.schedule(flush);
  world.body = [&] { CHECK(world.waits()); };
  world.env.run_next();
  CHECK(!world.waits());
}

TEST_CASE("after an error hold() does not wait for the flush that caused the error") {
  Fixture world;
  world.schedule(flush);
  world.body = [&] { CHECK(world.jobs->hold(hours(1))); };
  world.env.run_next();
  CHECK(world.runs == 1);
}

TEST_CASE("a flush that starts after an error is held until it is released but a compaction is not held") {
  Fixture world;
  world.schedule(flush);  // scheduled before the error, but started by a thread after the error
  CHECK(world.jobs->hold(hours(1)));
  world.schedule(compaction);
  world.env.run_next();
  CHECK(world.runs == 0);
  world.env.run_next();
  CHECK(world.runs == 1);
  CHECK(world.jobs->begin_resuming());
  world.jobs->release();
  world.env.run_next();
  CHECK(world.runs == 2);
  CHECK(!world.jobs->begin_resuming());
}

TEST_CASE(
    "a flush that was scheduled before an error is held even if it starts after the resumption has begun") {
  Fixture world;
  world.schedule(flush);
  CHECK(world.jobs->hold(hours(1)));
  CHECK(world.jobs->begin_resuming());
  world.env.run_next();
  CHECK(world.runs == 0);
  world.jobs->release();
  world.env.run_next();
  CHECK(world.runs == 1);
}

TEST_CASE("a flush that the resumption schedules runs unless another error occurs") {
  Fixture world;
  CHECK(world.jobs->hold(hours(1)));
  CHECK(!world.jobs->begin_resuming());
  world.schedule(flush);
  world.env.run_next();
  CHECK(world.runs == 1);
  CHECK(world.jobs->hold(hours(1)));
  world.schedule(flush);
  world.env.run_next();
  CHECK(world.runs == 1);
  CHECK(world.jobs->begin_resuming());
}

TEST_CASE("a flush that has failed counts as running until it has ended") {
  Fixture world;
  world.schedule(flush);
  CHECK(!world.jobs->flush_runs());
  world.body = [&] {
    CHECK(world.jobs->flush_runs());
    world.jobs->begun();
    CHECK(world.jobs->hold(hours(1)));
    CHECK(world.jobs->flush_runs());
  };
  world.env.run_next();
  CHECK(!world.jobs->flush_runs());
  world.body = [&] { CHECK(!world.jobs->flush_runs()); };
  world.schedule(compaction);
  world.env.run_next();
  world.schedule(flush);  // held
  world.env.run_next();
  CHECK(world.runs == 2);
  CHECK(!world.jobs->flush_runs());
}

TEST_CASE("no flush is held when the database is about to be closed") {
  Fixture world;
  CHECK(world.jobs->hold(hours(1)));
  world.schedule(flush);
  world.env.run_next();
  CHECK(world.runs == 0);
  world.jobs->release_for_good();
  world.env.run_next();
  CHECK(world.runs == 1);
  CHECK(world.jobs->hold(hours(1)));
  world.schedule(flush);
  world.env.run_next();
  CHECK(world.runs == 2);
}

TEST_CASE("a dropped flush is not held") {
  Fixture world;
  world.schedule(flush);
  world.env.drop_next();
  CHECK(world.dropped == 1);
  CHECK(world.runs == 0);
  CHECK(!world.jobs->begin_resuming());
}

TEST_CASE("a flush can outlive the objects that scheduled it and hold() still waits for its end") {
  Fixture world;
  std::atomic<bool> ended = false;
  std::thread waiter;
  world.schedule(flush);
  world.body = [&] {
    waiter = std::thread([&, jobs = std::exchange(world.jobs, nullptr)] { ended = jobs->hold(hours(1)); });
    CHECK(!ended);
  };
  world.env.run_next();
  waiter.join();
  CHECK(ended);
}

}  // namespace mayfly::testing
