#include "compat/outbound/call.h"

#include <utility>

#include "engine/base/mutex.h"

namespace mayfly::compat::outbound {

struct Call::Slot {
  Slot(std::shared_ptr<engine::Scheduler> scheduler_, std::weak_ptr<engine::Task> task_)
      : scheduler(std::move(scheduler_)), task(std::move(task_)) {}

  void put(Invoker::Answer given) {
    {
      const engine::Lock lock(mutex);
      answer = std::move(given);
    }
    if (const auto waiting = task.lock()) scheduler->wake(waiting);
  }

  const std::shared_ptr<engine::Scheduler> scheduler;
  const std::weak_ptr<engine::Task> task;
  engine::Mutex mutex;
  std::optional<Invoker::Answer> answer GUARDED_BY(mutex);
};

Call::Call(std::shared_ptr<engine::Scheduler> scheduler, std::weak_ptr<engine::Task> task)
    : slot_(std::make_shared<Slot>(std::move(scheduler), std::move(task))) {}

void Call::start(Invoker& invoker, Invocation invocation, std::stop_token stop) {
  invoker.start(std::move(invocation), std::move(stop),
                [slot = slot_](Invoker::Answer answer) { slot->put(std::move(answer)); });
}

std::optional<Invoker::Answer> Call::take() {
  const engine::Lock lock(slot_->mutex);
  return std::exchange(slot_->answer, std::nullopt);
}

}  // namespace mayfly::compat::outbound
