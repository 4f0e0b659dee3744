// What runs by itself, in steps: the reaper, backfills, the trimming of streams, storage's upkeep, triggers,
// destinations.
//
// A task is stepped by one thread at a time, and holds none while it waits: a step says when the next one is
// to be, and a wake brings it earlier. A wake during a step brings one more step, so nothing is missed. Tasks
// take turns, first come, first served.
//
//   class Walk final : public Task { Next step() override { … return Next::at(deadline); } };
//   scheduler->wake(walk);
//
// Who steps them is the subclass's: threads in a server (ThreadScheduler), a seeded order and a clock of its
// own in a test. So nothing that runs by itself has a thread, sleeps, or asks for the real time by any other
// way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::engine {

class Scheduler;

class Task {
 public:
  using Alarms = std::multimap<RealTime, std::shared_ptr<Task>>;

  virtual ~Task() = default;

 protected:
  struct Next {
    static Next at_once() { return {true, std::nullopt}; }
    static Next when_woken() { return {false, std::nullopt}; }
    static Next at(RealTime instant) { return {false, instant}; }
    static Next after(const Scheduler& scheduler, std::chrono::nanoseconds pause);  // at the earliest
    bool now;
    std::optional<RealTime> alarm;
  };
  static constexpr std::chrono::milliseconds fault_wait{1000};  // before what failed is tried again

  // A bounded piece of work, which waits for nobody.
  virtual Next step() = 0;
  // The step failed (attempt.h), for the reason that a sentence says.
  virtual Next failed(std::string_view why) = 0;

 private:
  friend class Scheduler;
  enum class State : std::uint8_t { resting, queued, running, running_again };
  State state_ = State::resting;  // guarded by the scheduler's mutex, as the alarm is
  std::optional<Alarms::iterator> alarm_;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Whether somebody steps tasks, or can be had to.
  [[nodiscard]] virtual bool start() { return true; }
  // The task's next step is to be at once. Thread-safe, and cheap.
  void wake(const std::shared_ptr<Task>& task) EXCLUDES(mutex_);
  // Waits for the steps under way; none follows.
  virtual void end() EXCLUDES(mutex_);
  // The time that alarms go by.
  [[nodiscard]] virtual RealTime now() const = 0;

 protected:
  Scheduler() = default;

  // A task waits to be stepped; an alarm is earlier than all before.
  virtual void task_came() REQUIRES(mutex_) {}
  virtual void alarm_came() REQUIRES(mutex_) {}

  // Queues whose alarms have come.
  void ring_alarms() REQUIRES(mutex_);
  // Steps the task at this place of the queue. `lock` is mutex_'s and is let go of meanwhile, which the
  // analysis does not follow into a function.
  void step(Lock<Mutex>& lock, std::size_t place) NO_THREAD_SAFETY_ANALYSIS;

  mutable Mutex mutex_;
  std::deque<std::shared_ptr<Task>> queue_ GUARDED_BY(mutex_);
  Task::Alarms alarms_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;

 private:
  void queue(std::shared_ptr<Task> task) REQUIRES(mutex_);
  void rest(const std::shared_ptr<Task>& task, Task::Next next) REQUIRES(mutex_);
};

inline Task::Next Task::Next::after(const Scheduler& scheduler, std::chrono::nanoseconds pause) {
  return at(scheduler.now() + std::chrono::ceil<RealTime::duration>(pause));
}

// No thread before the first task, `threads_max` at most. Where none can be made those that are there go on,
// and the next task tries again.
class ThreadScheduler final : public Scheduler {
 public:
  explicit ThreadScheduler(std::size_t threads_max) : threads_max_(threads_max) {}
  ~ThreadScheduler() override { end(); }

  [[nodiscard]] bool start() override EXCLUDES(mutex_);
  void end() override EXCLUDES(mutex_);
  [[nodiscard]] RealTime now() const override { return host_time(); }
  [[nodiscard]] std::size_t threads() const EXCLUDES(mutex_);

 private:
  void task_came() override REQUIRES(mutex_);
  void alarm_came() override REQUIRES(mutex_);
  void grow() REQUIRES(mutex_);
  void work() EXCLUDES(mutex_);

  const std::size_t threads_max_;
  Condition came_;
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

// Each part of Mayfly that does something by itself has a scheduler of its own, so that none waits for
// another's steps; a test makes them of one.
using MakeScheduler = std::function<std::shared_ptr<Scheduler>(std::size_t threads_max)>;
inline std::shared_ptr<Scheduler> make_thread_scheduler(std::size_t threads_max) {
  return std::make_shared<ThreadScheduler>(threads_max);
}

}  // namespace mayfly::engine
