#include "http/slow_lane.h"

#include <system_error>
#include <utility>

#include "engine/attempt.h"
#include "engine/mutex.h"

namespace mayfly::http {

std::string_view name_of(Waiting kind) {
  switch (kind) {
    case Waiting::events: return "event streams";
    case Waiting::awaits: return "awaits";
    case Waiting::changes: return "control calls that change something";
    case Waiting::calls: return "control calls";
    case Waiting::invocations: return "invocations";
    case Waiting::operations: return "operations";
    case Waiting::agents: return "requests of agents";
  }
  return {};
}

SlowLane::Place SlowLane::take(Waiting kind, std::string_view account) {
  const engine::Lock lock(taken_mutex_);
  Taken& taken = taken_[static_cast<std::size_t>(kind)];
  const auto held = account.empty() ? taken.of_accounts.end() : taken.of_accounts.find(account);
  const std::size_t held_places = held == taken.of_accounts.end() ? 0 : held->second;
  if (taken.all >= places_ || held_places >= held_for_each_free * (places_ - taken.all)) {
    metrics_.add(compat::Meter::refused_waiting);
    return {};
  }
  Place place(*this, kind, account);
  if (!account.empty()) ++taken.of_accounts[place.account_];
  ++taken.all;
  count(kind, 1);
  return place;
}

void SlowLane::give_back(Waiting kind, std::string_view account) {
  const engine::Lock lock(taken_mutex_);
  Taken& taken = taken_[static_cast<std::size_t>(kind)];
  const auto held = taken.of_accounts.find(account);
  if (held != taken.of_accounts.end() && --held->second == 0) taken.of_accounts.erase(held);
  --taken.all;
  count(kind, -1);
}

void SlowLane::count(Waiting kind, std::int64_t by) {
  using compat::Meter;
  const auto number = static_cast<std::size_t>(kind);
  metrics_.add(static_cast<Meter>(static_cast<std::size_t>(Meter::waiting_events) + number), by);
}

bool SlowLane::run(std::stop_source stop, std::function<void()> job) {
  const engine::Lock lock(mutex_);
  if (ended_) return false;
  // A thread may still be coming back from a job whose place was left already: then it takes this one.
  if (jobs_.size() >= idle_ && threads_.size() < waiting_kinds * places_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& failure) {
      shortage_.met(failure.what());
      return false;
    }
    ++idle_;  // it is on its way
  }
  shortage_.passed();
  jobs_.push_back({std::move(stop), std::move(job)});
  came_.notify_one();
  return true;
}

void SlowLane::work() {
  engine::Lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [&]() REQUIRES(mutex_) { return ended_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      --idle_;
      lock.unlock();
      const std::stop_callback at_end(end_.get_token(), [&] { job.stop.request_stop(); });
      engine::attempt(job.run, [](std::string_view) {
        // Who waits for it waits no longer than its client does.
      });
    }
    lock.lock();
    ++idle_;
  }
}

void SlowLane::end() {
  std::vector<std::thread> threads;
  {
    const engine::Lock lock(mutex_);
    ended_ = true;
    threads.swap(threads_);
    came_.notify_all();
  }
  end_.request_stop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace mayfly::http
