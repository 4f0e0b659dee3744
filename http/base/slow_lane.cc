#include "http/base/slow_lane.h"

#include <system_error>
#include <utility>

#include "engine/base/attempt.h"
#include "engine/base/mutex.h"

namespace mayfly::http {

std::string_view name_of(Waiting kind) {
  switch (kind) {
    case Waiting::events: return "event streams";
    case Waiting::awaits: return "awaits";
    case Waiting::changes: return "control calls that change something";
    case Waiting::calls: return "control calls";
    case Waiting::invocations: return "invocations";
    case Waiting::operations: return "operations";
    case Waiting::agents: return "MCP requests";
    case Waiting::locks: return "operations that wait for a lock or the disk";
    case Waiting::processors: return "compute-intensive operations";
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
  return !ended_ && start({std::move(stop), std::move(job)}, false);
}

bool SlowLane::start(Job job, bool comes_back) {
  // At the limit, a thread is about to finish a job whose slot was already released; that thread takes this
  // job.
  std::size_t threads_max = kinds_with_places * places_;
  for (const Line& line : lines_) threads_max += line.threads_max;
  if (jobs_.size() >= idle_ && threads_.size() < threads_max) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& failure) {
      shortage_.met(failure.what());
      if (!comes_back) return false;
      jobs_.push_back(std::move(job));
      return true;
    }
    ++idle_;  // the new thread counts as idle until it takes a job
  }
  shortage_.passed();
  jobs_.push_back(std::move(job));
  came_.notify_one();
  return true;
}

// --- queues

bool SlowLane::line_up(Waiting kind, const std::string& account, std::stop_source stop,
                       std::function<void()> job) {
  const engine::Lock lock(mutex_);
  if (ended_) return false;
  Line& line = line_of(kind);
  Line::Account& own = line.accounts[account];
  if (own.waiting.empty()) line.turns.push_back(account);
  own.waiting.push_back({std::move(stop), std::move(job), kind, account});
  count(kind, 1);
  if (start_lined_up(kind, false) || line.running > 0) return true;
  // No job of the queue is running, so this job is alone in the queue, and no thread would ever take it.
  line.turns.clear();
  line.accounts.clear();
  count(kind, -1);
  return false;
}

bool SlowLane::start_lined_up(Waiting kind, bool comes_back) {
  Line& line = line_of(kind);
  const std::size_t share = (line.threads_max + 1) / 2;
  for (std::size_t looked_at = 0; line.running < line.threads_max && looked_at < line.turns.size();) {
    const std::string name = std::move(line.turns.front());
    line.turns.pop_front();
    Line::Account& account = line.accounts.find(name)->second;
    if (account.running >= share) {
      line.turns.push_back(name);
      ++looked_at;
      continue;
    }
    if (!start(account.waiting.front(), comes_back)) {
      line.turns.push_front(name);
      return false;
    }
    account.waiting.pop_front();
    ++account.running;
    ++line.running;
    if (!account.waiting.empty()) line.turns.push_back(name);
    looked_at = 0;
  }
  return true;
}

void SlowLane::finished(Waiting kind, const std::string& account) {
  count(kind, -1);
  Line& line = line_of(kind);
  --line.running;
  const auto own = line.accounts.find(account);
  if (--own->second.running == 0 && own->second.waiting.empty()) line.accounts.erase(own);
  static_cast<void>(start_lined_up(kind, true));  // this thread takes the next job if no other thread does
}

void SlowLane::work() {
  engine::Lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [&]() REQUIRES(mutex_) { return ended_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::optional<Waiting> line;
    std::string account;
    {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      --idle_;
      line = job.line;
      account = std::move(job.account);
      lock.unlock();
      const std::stop_callback at_end(end_.get_token(), [&] { job.stop.request_stop(); });
      engine::attempt(job.run, [](std::string_view) {
        // The request gets no response; the client waits until its own time limit expires.
      });
    }
    lock.lock();
    ++idle_;
    if (line && !ended_) finished(*line, account);
  }
}

void SlowLane::end() {
  std::vector<std::thread> threads;
  {
    const engine::Lock lock(mutex_);
    ended_ = true;
    threads.swap(threads_);
    for (Line& line : lines_) {
      for (auto& [name, account] : line.accounts) {
        for (Job& job : account.waiting) jobs_.push_back(std::move(job));
        account.waiting.clear();
      }
      line.turns.clear();
    }
    came_.notify_all();
  }
  end_.request_stop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace mayfly::http
