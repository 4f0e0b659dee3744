// A call that a task has under way: its answer wakes the task, whose next step takes it.
//
//   call_.emplace(scheduler, weak_from_this());
//   call_->start(invoker, {.url = url, .body = event}, stop.get_token());
//   return Next::when_woken();
//   …
//   if (const auto answer = call_->take()) …          // nothing: it is still under way
//
// Who waits for the answer no longer lets the call go. An answer that comes later is dropped, and one that
// comes when the task is no more wakes nobody.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "compat/outbound/invoker.h"
#include "engine/scheduler.h"

namespace mayfly::compat::outbound {

class Call {
 public:
  // `scheduler` is the one that steps `task`.
  Call(std::shared_ptr<engine::Scheduler> scheduler, std::weak_ptr<engine::Task> task);

  // Requires: once.
  void start(Invoker& invoker, Invocation invocation, std::stop_token stop);
  // The answer, once. Nothing: it has not come yet.
  [[nodiscard]] std::optional<Invoker::Answer> take();

 private:
  struct Slot;  // where the answer goes; outlives a call that was let go
  std::shared_ptr<Slot> slot_;
};

}  // namespace mayfly::compat::outbound
