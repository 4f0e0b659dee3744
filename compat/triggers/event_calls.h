// Calls that nobody waits for: Invoke's invocation type Event. One after the other, each tried three times.
//
// What is still waiting when Mayfly ends is not called.
#pragma once

#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include "compat/triggers/invoker.h"
#include "compat/triggers/signal.h"
#include "engine/guarded_by.h"

namespace mayfly::compat::triggers {

class EventCalls {
 public:
  explicit EventCalls(Invoker& invoker) : invoker_(invoker) {}
  ~EventCalls();
  EventCalls(const EventCalls&) = delete;
  EventCalls& operator=(const EventCalls&) = delete;

  void add(Invocation invocation);

 private:
  void run();
  void call(const Invocation& invocation);

  Invoker& invoker_;
  Signal signal_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::deque<Invocation> waiting_ GUARDED_BY(mutex_);
  std::thread thread_ GUARDED_BY(mutex_);  // from the first call on
};

}  // namespace mayfly::compat::triggers
