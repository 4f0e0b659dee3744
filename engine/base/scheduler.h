// Runs background tasks in steps: the reaper, backfills, the trimming of streams, storage's upkeep, triggers
// and destinations.
//
// At most one thread at a time steps a task, and a task that waits occupies no thread. A step returns the
// time at which the next step is due, and wake() makes the task run earlier. A wake() during a step causes
// one more step, so no event is missed. Tasks run in the order in which they are queued.
//
//   class Walk final : public Task { Next step() override { … return Next::at(deadline); } };
//   scheduler->wake(walk);
//
// Each subclass of Scheduler decides how tasks are stepped: a server uses threads (ThreadScheduler), and a
// test uses a seeded order and a simulated clock. Background work must therefore not create threads, sleep,
// or read the real time directly.
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

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

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
    static Next after(const Scheduler& scheduler, std::chrono::nanoseconds pause);  // after at least `pause`
    bool now;
    std::optional<RealTime> alarm;
  };
  static constexpr std::chrono::milliseconds fault_wait{1000};  // the pause before a retry

  // Does a bounded piece of work and does not block.
  virtual Next step() = 0;
  // Called after the step has failed (attempt.h). `why` is a sentence.
  virtual Next failed(std::string_view why) = 0;

 private:
  friend class Scheduler;
  enum class State : std::uint8_t { resting, queued, running, running_again };
  State state_ = State::resting;  // guarded, like alarm_, by the scheduler's mutex
  std::optional<Alarms::iterator> alarm_;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Makes sure that tasks can be stepped. Returns false if no thread can be created.
  [[nodiscard]] virtual bool start() { return true; }
  // Makes the task's next step run as soon as possible. Thread-safe and cheap.
  void wake(const std::shared_ptr<Task>& task) EXCLUDES(mutex_);
  // Waits for running steps to end and starts no further steps.
  virtual void end() EXCLUDES(mutex_);
  // The current time of the clock that alarms use.
  [[nodiscard]] virtual RealTime now() const = 0;

 protected:
  Scheduler() = default;

  // Called after a task has been queued.
  virtual void task_came() REQUIRES(mutex_) {}
  // Called after an alarm that is earlier than all other alarms has been set.
  virtual void alarm_came() REQUIRES(mutex_) {}

  // Queues the tasks whose alarms are due.
  void ring_alarms() REQUIRES(mutex_);
  // Steps the task at this position in the queue. `lock` holds mutex_ and is released during the step. The
  // thread safety analysis cannot follow that across a function call.
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

// Steps tasks on at most `threads_max` threads, which are created when tasks need them. If a thread cannot be
// created, the existing threads continue, and the next queued task tries to create a thread again.
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

// Each part of Mayfly that works in the background has a separate scheduler, so that no part waits for
// another part's steps. A test can use one scheduler for all parts.
using MakeScheduler = std::function<std::shared_ptr<Scheduler>(std::size_t threads_max)>;
inline std::shared_ptr<Scheduler> make_thread_scheduler(std::size_t threads_max) {
  return std::make_shared<ThreadScheduler>(threads_max);
}

}  // namespace mayfly::engine
