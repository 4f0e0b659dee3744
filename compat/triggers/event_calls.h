// Calls functions in the background, for Invoke's invocation type Event. Each call is tried up to three
// times, and up to `at_once_max` calls run at the same time.
//
// Calls that are still waiting when Mayfly exits are dropped.
#pragma once

#include <cstddef>
#include <memory>

#include "compat/outbound/invoker.h"
#include "compat/wire/error.h"
#include "engine/base/scheduler.h"

namespace mayfly::compat::triggers {

class EventCalls {
 public:
  static constexpr std::size_t at_once_max = 16;
  static constexpr std::size_t waiting_max = 10'000, waiting_bytes_max = std::size_t{64} << 20;

  EventCalls(outbound::Invoker& invoker, std::shared_ptr<engine::Scheduler> scheduler);
  ~EventCalls();
  EventCalls(const EventCalls&) = delete;
  EventCalls& operator=(const EventCalls&) = delete;

  // Error: TooManyRequestsException, when too many calls are waiting.
  Result<void> add(outbound::Invocation invocation);

 private:
  class Calls;
  const std::shared_ptr<Calls> calls_;
};

}  // namespace mayfly::compat::triggers
