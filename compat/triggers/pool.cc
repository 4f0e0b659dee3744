#include "compat/triggers/pool.h"

#include <system_error>
#include <utility>

#include "engine/clock.h"

namespace mayfly::compat::triggers {

bool Pool::start() {
  const std::lock_guard lock(mutex_);
  if (threads_.empty() && !ended_) grow();
  return !threads_.empty();
}

std::size_t Pool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void Pool::wake(const std::shared_ptr<Task>& task) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (task->state_ == Task::State::running) task->state_ = Task::State::running_again;
  if (task->state_ == Task::State::resting) queue(task);
}

void Pool::queue(std::shared_ptr<Task> task) {
  if (task->alarm_) alarms_.erase(*std::exchange(task->alarm_, std::nullopt));
  task->state_ = Task::State::queued;
  queue_.push_back(std::move(task));
  if (queue_.size() > idle_) grow();
  came_.notify_one();
}

void Pool::grow() {
  if (threads_.size() >= threads_max_) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // Those that are there go on; who comes next tries again.
  }
}

void Pool::ring() {
  if (alarms_.empty()) return;
  const engine::RealTime now = engine::host_time();
  while (!alarms_.empty() && alarms_.begin()->first <= now) queue(alarms_.begin()->second);
}

void Pool::rest(const std::shared_ptr<Task>& task, Task::Next next) {
  if (next.now || task->state_ == Task::State::running_again) return queue(task);
  task->state_ = Task::State::resting;
  if (!next.alarm) return;
  task->alarm_ = alarms_.emplace(*next.alarm, task);
  if (task->alarm_ == alarms_.begin()) came_.notify_one();  // who waits, waits for a later one
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    ring();
    if (queue_.empty()) {
      ++idle_;
      if (alarms_.empty()) {
        came_.wait(lock);
      } else {
        came_.wait_until(lock, engine::RealTime(alarms_.begin()->first));
      }
      --idle_;
      continue;
    }
    std::shared_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    task->state_ = Task::State::running;
    lock.unlock();
    const Task::Next next = task->step();
    lock.lock();
    if (!ended_) rest(task, next);
    lock.unlock();
    task.reset();  // it may have been the last that held it
    lock.lock();
  }
}

void Pool::end() {
  std::vector<std::thread> threads;
  std::deque<std::shared_ptr<Task>> queue;
  Alarms alarms;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    threads.swap(threads_);
    came_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex_);
  queue.swap(queue_);
  alarms.swap(alarms_);
}

}  // namespace mayfly::compat::triggers
