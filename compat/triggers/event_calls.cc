#include "compat/triggers/event_calls.h"

#include <chrono>
#include <deque>
#include <optional>
#include <stop_token>
#include <utility>

#include "compat/lambda/lambda_error.h"
#include "compat/lambda/outcome.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::triggers {
namespace {

constexpr int tries_max = 3;
constexpr std::chrono::milliseconds retry_wait{200};

}  // namespace

class EventCalls::Calls final : public engine::Task, public std::enable_shared_from_this<Calls> {
 public:
  Calls(outbound::Invoker& invoker, std::shared_ptr<engine::Scheduler> scheduler)
      : invoker_(invoker), scheduler_(std::move(scheduler)) {}

  Result<void> add(outbound::Invocation invocation) {
    if (!scheduler_->start()) return lambda_error::unavailable("Cannot start a thread to call the function.");
    {
      const engine::Lock lock(mutex_);
      if (waiting_.size() >= waiting_max || bytes_ + invocation.body.size() > waiting_bytes_max) {
        return lambda_error::too_many_requests("Too many events are waiting to be sent.");
      }
      bytes_ += invocation.body.size();
      waiting_.push_back({std::move(invocation), 0, {}});
    }
    scheduler_->wake(shared_from_this());
    return {};
  }
  void end() { stop_.request_stop(); }

 private:
  struct Waiting {
    outbound::Invocation invocation;
    int tries;
    engine::RealTime not_before;
  };

  // Takes the next call that is ready. If no call is ready, returns nullopt and sets `alarm` to the time of
  // the next check, if any.
  std::optional<Waiting> take(std::optional<engine::RealTime>& alarm) {
    const engine::Lock lock(mutex_);
    if (under_way_ >= at_once_max || stop_.stop_requested()) return std::nullopt;
    const engine::RealTime now = scheduler_->now();
    for (auto* line : {&again_, &waiting_}) {
      if (line->empty()) continue;
      if (line->front().not_before > now) {
        alarm = line->front().not_before;
        continue;
      }
      Waiting next = std::move(line->front());
      line->pop_front();
      ++under_way_;
      return next;
    }
    return std::nullopt;
  }

  Next step() override {
    std::optional<engine::RealTime> alarm;
    while (auto next = take(alarm)) {
      const auto called = std::make_shared<Waiting>(*std::move(next));
      invoker_.start(called->invocation, stop_.get_token(),
                     [weak = weak_from_this(), called](outbound::Invoker::Answer answer) {
                       if (const auto calls = weak.lock()) calls->answered(std::move(*called), answer);
                     });
    }
    return alarm ? Next::at(*alarm) : Next::when_woken();
  }

  Next failed(std::string_view) override { return Next::after(*scheduler_, fault_wait); }

  void answered(Waiting called, const outbound::Invoker::Answer& answer) {
    {
      const engine::Lock lock(mutex_);
      --under_way_;
      if ((answer && !function_error(*answer)) || ++called.tries == tries_max) {
        bytes_ -= called.invocation.body.size();
      } else {
        called.not_before = scheduler_->now() + retry_wait;
        again_.push_back(std::move(called));
      }
    }
    scheduler_->wake(shared_from_this());
  }

  outbound::Invoker& invoker_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  std::stop_source stop_;
  engine::Mutex mutex_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_), again_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // total size of all unfinished calls
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
};

EventCalls::EventCalls(outbound::Invoker& invoker, std::shared_ptr<engine::Scheduler> scheduler)
    : calls_(std::make_shared<Calls>(invoker, std::move(scheduler))) {}

EventCalls::~EventCalls() { calls_->end(); }

Result<void> EventCalls::add(outbound::Invocation invocation) { return calls_->add(std::move(invocation)); }

}  // namespace mayfly::compat::triggers
