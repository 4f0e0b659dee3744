// A task's call in flight. The response wakes the task, and the task's next step takes the response.
//
//   call_.emplace(scheduler, weak_from_this());
//   call_->start(invoker, {.url = url, .body = event}, stop.get_token());
//   return Next::when_woken();
//   …
//   if (const auto answer = call_->take()) …          // nullopt: still in flight
//
// To stop waiting for the response, destroy the Call. A response that arrives later is dropped, and a
// response that arrives after the task's end wakes nothing.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "compat/outbound/invoker.h"
#include "engine/base/scheduler.h"

namespace mayfly::compat::outbound {

class Call {
 public:
  // `scheduler` is the scheduler that runs the steps of `task`.
  Call(std::shared_ptr<engine::Scheduler> scheduler, std::weak_ptr<engine::Task> task);

  // Requires: called once.
  void start(Invoker& invoker, Invocation invocation, std::stop_token stop);
  // Takes the response. Returns nullopt if the response has not arrived yet or has already been taken.
  [[nodiscard]] std::optional<Invoker::Answer> take();

 private:
  struct Slot;  // receives the response; outlives a Call that was destroyed
  std::shared_ptr<Slot> slot_;
};

}  // namespace mayfly::compat::outbound
