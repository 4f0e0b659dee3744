#include "engine/base/scheduler.h"

#include <system_error>
#include <utility>

#include "engine/base/attempt.h"

namespace mayfly::engine {

void Scheduler::wake(const std::shared_ptr<Task>& task) {
  const Lock lock(mutex_);
  if (ended_) return;
  if (task->state_ == Task::State::running) task->state_ = Task::State::running_again;
  if (task->state_ == Task::State::resting) queue(task);
}

void Scheduler::queue(std::shared_ptr<Task> task) {
  if (task->alarm_) alarms_.erase(*std::exchange(task->alarm_, std::nullopt));
  task->state_ = Task::State::queued;
  queue_.push_back(std::move(task));
  task_came();
}

void Scheduler::ring_alarms() {
  if (alarms_.empty()) return;
  const RealTime now = this->now();
  while (!alarms_.empty() && alarms_.begin()->first <= now) queue(alarms_.begin()->second);
}

void Scheduler::rest(const std::shared_ptr<Task>& task, Task::Next next) {
  if (next.now || task->state_ == Task::State::running_again) return queue(task);
  task->state_ = Task::State::resting;
  if (!next.alarm) return;
  task->alarm_ = alarms_.emplace(*next.alarm, task);
  if (task->alarm_ == alarms_.begin()) alarm_came();
}

void Scheduler::step(Lock<Mutex>& lock, std::size_t place) {
  std::shared_ptr<Task> task = std::move(queue_[place]);
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(place));
  task->state_ = Task::State::running;
  lock.unlock();
  const Task::Next next =
      attempt([&] { return task->step(); }, [&](std::string_view why) { return task->failed(why); });
  lock.lock();
  if (!ended_) rest(task, next);
  lock.unlock();
  task.reset();  // this may be the last reference, so destroy the task without holding the lock
  lock.lock();
}

void Scheduler::end() {
  std::deque<std::shared_ptr<Task>> queue;
  Task::Alarms alarms;
  const Lock lock(mutex_);
  ended_ = true;
  queue.swap(queue_);
  alarms.swap(alarms_);
}

// --- threads

bool ThreadScheduler::start() {
  const Lock lock(mutex_);
  if (threads_.empty() && !ended_) grow();
  return !threads_.empty();
}

std::size_t ThreadScheduler::threads() const {
  const Lock lock(mutex_);
  return threads_.size();
}

void ThreadScheduler::task_came() {
  if (queue_.size() > idle_) grow();
  came_.notify_one();
}

// Every waiting thread waits for a later alarm, so wake one thread to wait for the new alarm.
void ThreadScheduler::alarm_came() { came_.notify_one(); }

void ThreadScheduler::grow() {
  if (threads_.size() >= threads_max_) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The existing threads continue, and the next queued task tries to create a thread again.
  }
}

void ThreadScheduler::work() {
  Lock lock(mutex_);
  while (!ended_) {
    ring_alarms();
    if (!queue_.empty()) {
      step(lock, 0);
      continue;
    }
    ++idle_;
    if (alarms_.empty()) {
      came_.wait(lock);
    } else {
      came_.wait_until(lock, RealTime(alarms_.begin()->first));
    }
    --idle_;
  }
}

void ThreadScheduler::end() {
  std::vector<std::thread> threads;
  {
    const Lock lock(mutex_);
    ended_ = true;
    threads.swap(threads_);
    came_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  Scheduler::end();
}

}  // namespace mayfly::engine
