// A few threads for all that goes on by itself: the lanes of every mapping, and calls that nobody waits for.
//
// A task is stepped by one thread at a time, and holds none while it waits: it says when its next step is to
// be, and is woken before that if there may be something to do. What wakes it during a step brings one more
// step, so nothing is missed. Tasks take turns, first come, first served. No thread before the first task,
// `threads_max` at most.
//
//   class Lane final : public Pool::Task { Next step() noexcept override { … return Next::at(deadline); } };
//   pool.wake(lane);
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/bell.h"
#include "engine/guarded_by.h"

namespace mayfly::compat::triggers {

class Pool {
 public:
  class Task;

 private:
  using Alarms = std::multimap<engine::RealTime, std::shared_ptr<Task>>;

 public:
  static constexpr std::size_t threads_max_default = 4;  // a step waits for nobody: it reads, filters, stores

  class Task {
   public:
    virtual ~Task() = default;

   protected:
    struct Next {
      static Next at_once() { return {true, std::nullopt}; }
      static Next when_woken() { return {false, std::nullopt}; }
      static Next at(engine::RealTime instant) { return {false, instant}; }
      bool now;
      std::optional<engine::RealTime> alarm;
    };
    // A bounded piece of work.
    virtual Next step() noexcept = 0;

   private:
    friend class Pool;
    enum class State : std::uint8_t { resting, queued, running, running_again };
    State state_ = State::resting;  // guarded by the pool's mutex, as the alarm is
    std::optional<Alarms::iterator> alarm_;
  };

  explicit Pool(std::size_t threads_max = threads_max_default) : threads_max_(threads_max) {}
  ~Pool() { end(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Whether there is a thread, or one could be made.
  [[nodiscard]] bool start();
  // The task's next step is to be at once. Where no thread can be made, with the first that can.
  void wake(const std::shared_ptr<Task>& task);
  // Waits for the steps under way; none follows.
  void end();
  [[nodiscard]] std::size_t threads() const;

 private:
  void work();
  void queue(std::shared_ptr<Task> task);  // these hold mutex_
  void rest(const std::shared_ptr<Task>& task, Task::Next next);
  void ring();  // queues whose alarms are due
  void grow();

  const std::size_t threads_max_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Task>> queue_ GUARDED_BY(mutex_);
  Alarms alarms_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
