#include "compat/jobs/jobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include "compat/jobs/bucket_call.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/base/attempt.h"
#include "engine/storage/documents.h"
#include "tests/support/engine_world.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {
namespace {

using namespace compat::jobs;

const Scope scope{std::string(account), "us-east-1"};

// Controls a scripted Work: the test sets `step`, and the counters count steps and destroyed Works. A Script
// must outlive its Works, so tests create it before the JobsWorld.
struct Script {
  int steps = 0, dropped = 0;
  std::function<Step(Run&)> step = [](Run&) { return Step::waits(); };
};

class Scripted final : public Work {
 public:
  explicit Scripted(Script& script) : script_(script) {}
  ~Scripted() override { ++script_.dropped; }
  Step step(Run& run) override {
    ++script_.steps;
    return script_.step(run);
  }

 private:
  Script& script_;
};

// A Work without a script, so that several threads can destroy it.
struct Waiting final : Work {
  Step step(Run&) override { return Step::waits(); }
};

// A database whose jobs the test steps.
struct JobsWorld {
  explicit JobsWorld(DatabaseOptions options = {.reap = false}) {
    options.make_scheduler = [this](std::size_t) { return scheduler; };
    world.emplace(std::move(options));
    open();
  }
  void open() {
    jobs.emplace(world->database(), [this](std::string_view sentence) { reports.emplace_back(sentence); });
  }
  void reopen() {
    jobs.reset();
    scheduler = std::make_shared<SteppedScheduler>(clock, 1);
    world->reopen();
    open();
  }

  std::shared_ptr<const Job> start(Script& script, Kind kind = Kind::table_import, std::string token = {}) {
    Job job = jobs->draft(scope, kind);
    job.arn = "arn:" + job.id;
    job.client_token = std::move(token);
    const auto started = jobs->start(std::move(job), std::make_unique<Scripted>(script), always);
    REQUIRE(started);
    return *started;
  }
  static compat::Result<bool> always(const Jobs::Present&) { return true; }
  [[nodiscard]] std::shared_ptr<const Job> look(const Job& job) const {
    return jobs->find(job.scope, job.kind, job.id);
  }
  [[nodiscard]] Status status(const Job& job) const { return look(job)->status(); }

  std::shared_ptr<SteppedClock> clock = std::make_shared<SteppedClock>(start_ms);
  std::shared_ptr<SteppedScheduler> scheduler = std::make_shared<SteppedScheduler>(clock, 1);
  std::optional<World> world;
  std::vector<std::string> reports;
  std::optional<Jobs> jobs;
};

Step end_completed(Run&) { return Step::ends({Status::completed}); }

}  // namespace

TEST_CASE("a job's steps run one after the other and the progress of each step is visible", "[jobs]") {
  Script script;
  JobsWorld world;
  script.step = [&](Run& run) {
    run.progress.done += 10;
    run.progress.total = 40;
    ++run.progress.counts["ProcessedItemCount"];
    return run.progress.done == 40 ? Step::ends({Status::failed, "ItemValidationError", "why"})
                                   : Step::goes_on();
  };
  const auto job = world.start(script);
  CHECK(job->status() == Status::in_progress);
  CHECK(job->percent() == 0);
  CHECK(job->started == world.world->now());
  CHECK(world.scheduler->step_one());
  CHECK(world.look(*job)->percent() == 25);
  CHECK(world.look(*job)->count("ProcessedItemCount") == 1);
  world.scheduler->run();
  const auto ended = world.look(*job);
  CHECK(script.steps == 4);
  CHECK(script.dropped == 1);
  CHECK(ended->status() == Status::failed);
  CHECK(ended->percent() == 100);
  CHECK(ended->ending.failure_code == "ItemValidationError");
  CHECK(ended->ended == world.world->now());
  CHECK(world.jobs->settle(account, host_time()));
}

TEST_CASE("an account runs a few jobs at once and its other jobs wait with the status IN_PROGRESS",
          "[jobs]") {
  std::vector<Script> scripts(running_max + 2);
  JobsWorld world;
  std::vector<std::shared_ptr<const Job>> started;
  for (Script& script : scripts) started.push_back(world.start(script));
  world.scheduler->run();
  for (std::size_t i = 0; i < scripts.size(); ++i) CHECK(scripts[i].steps == (i < running_max ? 1 : 0));
  for (const auto& job : started) CHECK(world.status(*job) == Status::in_progress);
  CHECK(world.jobs->occupancy().waiting == 2);
  CHECK_FALSE(world.jobs->settle(account, host_time()));

  // A waiting job is canceled immediately. A running job ends when its Work says so.
  CHECK(world.jobs->cancel(scope, Kind::table_import, started.back()->id)->status() == Status::cancelled);
  CHECK(scripts.back().dropped == 1);
  scripts[0].step = [](Run& run) {
    return run.stop.stop_requested() ? Step::ends({Status::cancelled}) : Step::waits();
  };
  CHECK(world.jobs->cancel(scope, Kind::table_import, started[0]->id)->status() == Status::cancelling);
  world.scheduler->run();
  CHECK(world.status(*started[0]) == Status::cancelled);
  CHECK(scripts[2].steps == 1);
  CHECK(world.jobs->cancel(scope, Kind::table_import, started[0]->id)->status() == Status::cancelled);
  CHECK(world.jobs->cancel(scope, Kind::table_export, started[0]->id) == nullptr);
}

TEST_CASE("concurrent starts each see the current number of waiting jobs", "[jobs]") {
  constexpr std::size_t waiting_max = 5;
  JobsWorld world;
  const auto decide = [](const Jobs::Present& present) -> compat::Result<bool> {
    if (present.waiting_in_all >= waiting_max) return compat::error::limit_exceeded("no");
    return true;
  };
  std::atomic<std::size_t> started = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          Job draft = world.jobs->draft(scope, Kind::table_export);
          started += world.jobs->start(std::move(draft), std::make_unique<Waiting>(), decide) ? 1 : 0;
        }
      });
    }
  }
  CHECK(started == running_max + waiting_max);
  CHECK(world.jobs->occupancy().waiting == waiting_max);
}

TEST_CASE("a completed bucket call wakes the job that waits for it", "[jobs]") {
  Script script;
  JobsWorld world;
  BucketCall<int> call;
  compat::buckets::Done<int> done;
  script.step = [&](Run& run) {
    if (!call.under_way()) {
      call.start(run, [&](auto told) { done = told; });
      return Step::waits();
    }
    const auto outcome = call.take();
    return outcome && **outcome == 7 ? Step::ends({Status::completed}) : Step::waits();
  };
  const auto job = world.start(script);
  world.scheduler->run();
  CHECK(world.status(*job) == Status::in_progress);
  done(7);
  world.scheduler->run();
  CHECK(world.status(*job) == Status::completed);
  done(7);  // no job waits for call 7
  world.scheduler->run();
}

TEST_CASE("a job's token finds the job for 8 hours after the job ends and job ids are never reused",
          "[jobs]") {
  Script script;
  JobsWorld world;
  script.step = end_completed;
  const auto first = world.start(script, Kind::table_import, "t");
  const auto same = [&](Kind kind) {
    std::string id;
    Job draft = world.jobs->draft(scope, kind);
    CHECK(draft.id > first->id);
    draft.client_token = "t";
    const auto decide = [&](const Jobs::Present& present) -> compat::Result<bool> {
      if (present.same_token != nullptr) id = present.same_token->id;
      return compat::error::validation("no");
    };
    CHECK_FALSE(world.jobs->start(std::move(draft), std::make_unique<Scripted>(script), decide));
    return id;
  };
  CHECK(same(Kind::table_import) == first->id);
  CHECK(same(Kind::bulk_put).empty());
  world.scheduler->run();
  world.world->advance(world.world->now() + 8 * 3'600'000 - 1);
  CHECK(same(Kind::table_import) == first->id);
  world.world->advance(world.world->now() + 1);
  CHECK(same(Kind::table_import).empty());
}

TEST_CASE("jobs are listed latest first and forgotten after 90 days on the account's clock", "[jobs]") {
  Script script;
  JobsWorld world;
  script.step = [](Run& run) {
    run.log.push_back("a line");
    return Step::ends({Status::completed});
  };
  const auto first = world.start(script), second = world.start(script);
  Script runs;
  const auto third = world.start(runs, Kind::bulk_put);
  world.scheduler->run();
  const auto listed = world.jobs->list(scope, Kind::table_import);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]->id == second->id);
  CHECK(listed[1]->id == first->id);
  CHECK(world.jobs->list(account).size() == 3);
  CHECK(world.jobs->log(*first) == std::vector<std::string>{"a line"});
  world.world->advance(world.world->now() + remembered_ms);
  CHECK(world.jobs->list(scope, Kind::table_import).size() == 2);
  world.world->advance(world.world->now() + 1);
  CHECK(world.jobs->list(scope, Kind::table_import).empty());
  CHECK(world.look(*first) == nullptr);
  CHECK(world.status(*third) == Status::in_progress);
  static_cast<void>(world.start(script));  // erases forgotten jobs
  CHECK(world.world->database().documents().list(document_kind).size() == 2);
  CHECK(world.world->database().documents().list("@job-log").empty());
}

TEST_CASE("if there are too many jobs the jobs that ended first are forgotten", "[jobs]") {
  Script script;
  JobsWorld world;
  script.step = end_completed;
  const auto first = world.start(script);
  for (std::size_t i = 1; i < remembered_max; ++i) {
    static_cast<void>(world.start(script));
    world.scheduler->run();
  }
  CHECK(world.look(*first) != nullptr);
  static_cast<void>(world.start(script));
  CHECK(world.look(*first) == nullptr);
  CHECK(world.jobs->list(scope, Kind::table_import).size() == remembered_max);
}

TEST_CASE("a job's log is limited in lines and in bytes per line", "[jobs]") {
  Script script;
  JobsWorld world;
  script.step = [](Run& run) {
    run.progress.done += 6'000;
    for (int i = 0; i < 6'000; ++i) run.log.push_back(std::string(5000, 'x'));
    return run.progress.done == 12'000 ? Step::ends({Status::completed}) : Step::goes_on();
  };
  const auto job = world.start(script);
  world.scheduler->run();
  const auto lines = world.jobs->log(*job);
  CHECK(lines.size() == log_lines_max);
  CHECK(lines.back().size() == log_line_bytes_max);
}

TEST_CASE("a job that was running when the server stopped is marked failed and reported", "[jobs]") {
  TemporaryDirectory directory;
  Script runs, ended, waits, waits_too;
  JobsWorld world({.directory = directory.path(), .reap = false});
  ended.step = end_completed;
  runs.step = [](Run& run) {
    if (run.progress.done == 3) return Step::waits();
    ++run.progress.done;
    return Step::goes_on();
  };
  const auto first = world.start(ended);
  world.scheduler->run();
  const auto second = world.start(runs), third = world.start(waits), fourth = world.start(waits_too);
  world.scheduler->run();
  world.reopen();
  CHECK(world.status(*first) == Status::completed);
  for (const auto& job : {second, third, fourth}) {
    CHECK(world.status(*job) == Status::failed);
    CHECK(world.look(*job)->ending.failure_message == "The server stopped while the job was running.");
  }
  CHECK(world.look(*second)->progress.done == 3);
  REQUIRE(world.reports.size() == 3);
  CHECK(world.reports[0] ==
        "the import " + second->arn + " failed because the server stopped while it was running");
  CHECK(world.jobs->draft(scope, Kind::table_import).id > fourth->id);
  world.reopen();  // reported only once
  CHECK(world.reports.size() == 3);
}

TEST_CASE("a restore brings back the snapshot's jobs without running them and a reset drops all jobs",
          "[jobs]") {
  Script ended, runs, later;
  JobsWorld world;
  Database& database = world.world->database();
  ended.step = end_completed;
  runs.step = later.step = [](Run&) { return Step::goes_on(); };
  const auto first = world.start(ended);
  world.scheduler->run();
  const auto second = world.start(runs);
  world.scheduler->step_one();
  const SnapshotId snapshot = database.snapshots().take(account);
  const auto third = world.start(later);
  world.scheduler->step_one();
  world.scheduler->step_one();

  const int steps = runs.steps + later.steps;
  CHECK(database.snapshots().restore(account, snapshot));
  CHECK(world.status(*first) == Status::completed);
  CHECK(world.status(*second) == Status::failed);
  CHECK(world.look(*third) == nullptr);
  CHECK(world.jobs->settle(account, host_time()));
  world.scheduler->run();
  CHECK(runs.steps + later.steps == steps);
  CHECK(runs.dropped == 1);
  CHECK(later.dropped == 1);
  CHECK(world.jobs->draft(scope, Kind::table_import).id > third->id);

  static_cast<void>(world.start(runs));
  world.scheduler->step_one();
  database.snapshots().reset(account);
  CHECK(world.jobs->list(account).empty());
  world.scheduler->run();
  CHECK(runs.dropped == 2);
  CHECK(database.documents().list(document_kind).empty());
}

// Regression: the job was forgotten, and listeners after Jobs were not notified of the restore.
TEST_CASE("a job ended by a restore stays known if any write of the restore fails", "[jobs]") {
  for (int failing = 0;; ++failing) {
    Script runs;
    int writes = -1;  // counts from the restore on
    JobsWorld world({.reap = false, .write_fails = [&] { return writes >= 0 && writes++ == failing; }});
    Database& database = world.world->database();
    const auto job = world.start(runs);
    world.scheduler->step_one();
    const SnapshotId snapshot = database.snapshots().take(account);
    writes = 0;
    const bool restored = attempt([&] { return database.snapshots().restore(account, snapshot); },
                                  [](std::string_view) { return false; });
    const int made = std::exchange(writes, -1);
    CAPTURE(failing, restored);
    REQUIRE(world.look(*job) != nullptr);
    if (restored) CHECK(world.status(*job) == Status::failed);
    if (made <= failing) {
      CHECK(restored);
      break;
    }
  }
}

TEST_CASE("a job that hits a write failure is marked failed once storage works and the next job runs",
          "[jobs]") {
  bool fails = false;
  std::vector<Script> scripts(running_max + 1);
  JobsWorld world({.reap = false, .write_fails = [&] { return fails; }});
  for (Script& script : scripts) {
    script.step = [&](Run& run) {
      ++run.progress.done;
      return Step::goes_on();
    };
  }
  std::vector<std::shared_ptr<const Job>> started;
  for (Script& script : scripts) started.push_back(world.start(script));
  fails = true;
  world.scheduler->run();
  CHECK(world.status(*started[0]) == Status::in_progress);
  CHECK(world.look(*started[0])->progress.done == 0);
  fails = false;
  for (Script& script : scripts) script.step = end_completed;
  for (int seconds = 0; seconds < 60; ++seconds) {  // storage recovers, and then the jobs continue
    world.clock->move(1000);
    world.scheduler->run();
  }
  CHECK(world.status(*started[0]) == Status::failed);
  CHECK(world.look(*started[0])->ending.failure_code == "InternalServerError");
  CHECK(world.status(*started.back()) == Status::completed);
}

TEST_CASE("jobs leave no data behind when snapshots and resets run concurrently", "[jobs]") {
  World world;  // background threads step the jobs
  Jobs jobs(world.database(), {});
  std::atomic<int> alive = 0, refused = 0;
  struct Busy final : Work {
    explicit Busy(std::atomic<int>& alive_) : alive(alive_) { ++alive; }
    ~Busy() override { --alive; }
    Step step(Run& run) override {
      if (run.stop.stop_requested()) return Step::ends({Status::cancelled});
      return ++run.progress.done == 200 ? Step::ends({Status::completed}) : Step::goes_on();
    }
    std::atomic<int>& alive;
  };
  const auto starts = [&] {
    for (int i = 0; i < 40; ++i) {
      const auto request = world.database().accounts().of(account).begin_request();
      Job draft = jobs.draft(scope, Kind::table_import);
      const std::string id = draft.id;
      if (!jobs.start(std::move(draft), std::make_unique<Busy>(alive), JobsWorld::always)) ++refused;
      if (i % 3 == 0) static_cast<void>(jobs.cancel(scope, Kind::table_import, id));
      static_cast<void>(jobs.list(account));
    }
  };
  std::thread one(starts), other(starts);
  std::thread replaces([&] {
    for (int i = 0; i < 20; ++i) {
      const SnapshotId snapshot = world.database().snapshots().take(account);
      if (i % 2 == 0) {
        static_cast<void>(world.database().snapshots().restore(account, snapshot));
      } else {
        world.database().snapshots().reset(account);
      }
    }
  });
  one.join();
  other.join();
  replaces.join();
  CHECK(refused == 0);
  CHECK(jobs.settle(account, host_time() + std::chrono::seconds(60)));
  for (const auto& job : jobs.list(account)) CHECK(job->over());
  world.database().snapshots().reset(account);
  CHECK(jobs.list(account).empty());
}

}  // namespace mayfly::testing
