#include "compat/triggers/event_calls.h"

#include <optional>

#include "compat/triggers/outcome.h"
#include "engine/clock.h"

namespace mayfly::compat::triggers {
namespace {

constexpr int tries_max = 3;
constexpr std::chrono::milliseconds retry_wait{200};

}  // namespace

EventCalls::~EventCalls() {
  stop_.request_stop();
  signal_.raise();
  if (thread_.joinable()) thread_.join();
}

void EventCalls::add(Invocation invocation) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(invocation));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  signal_.raise();
}

void EventCalls::run() {
  while (!stop_.stop_requested()) {
    const auto seen = signal_.seen();
    std::optional<Invocation> next;
    {
      const std::lock_guard lock(mutex_);
      if (!waiting_.empty()) {
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
    }
    if (next) {
      call(*next);
    } else {
      signal_.wait(seen, std::nullopt);
    }
  }
}

void EventCalls::call(const Invocation& invocation) {
  for (int tries = 0; tries < tries_max && !stop_.stop_requested(); ++tries) {
    const auto answer = invoker_.post(invocation, stop_.get_token());
    if (answer && !function_error(*answer)) return;
    signal_.wait(signal_.seen(), engine::host_time() + retry_wait);
  }
}

}  // namespace mayfly::compat::triggers
