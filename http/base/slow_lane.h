// Threads for requests that an io thread must not answer itself. The io thread hands such a request over and
// continues.
//
// Some requests may wait for minutes: for a change, for a clock to advance past a million expiries, or for
// another server. Such a request holds a slot (a Place). Each kind of request has its own slots, so hundreds
// of event streams do not take the control calls' slots, and changes that wait at a failpoint leave a slot
// for the call that releases it. Within a kind, an account may hold three times as many slots as are free:
// the first account can take three quarters of all slots, and the next account three quarters of the rest.
// The first such request starts a thread; later there is one thread for each request in progress, and threads
// are reused. A request with a slot never waits behind others.
//
//   auto place = lane.take(Waiting::awaits, "000000000042");
//   if (!place || !lane.run(stop, [=] { ... })) answer_that_too_many_wait();
//
// Other requests end on their own but take longer than an io thread has: they compute a lot, or wait for a
// lock or for the disk. They queue up, and a few threads answer them; none is rejected. One account gets at
// most half of the threads, and accounts take turns. A connection has one request in progress, so the number
// of connections bounds a queue.
//
//   if (!lane.line_up(Waiting::processors, "000000000042", stop, [=] { ... })) answer_here_after_all();
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "compat/server_metrics.h"
#include "engine/base/mutex.h"
#include "http/base/shortage.h"

namespace mayfly::http {

enum class Waiting : unsigned char {
  events,       // event streams
  awaits,       // waits for a change
  changes,      // control calls that change something, for example an advance
  calls,        // other control calls, including calls that end another call's wait
  invocations,  // function invocations
  operations,   // DynamoDB operations, while there are faults, and those that read whole tables
  agents,       // any MCP request
  // Requests of the following kinds queue up instead of holding slots.
  locks,       // operations that wait for a lock or for the disk
  processors,  // operations that compute a lot
};
inline constexpr std::size_t kinds_with_places = 7, waiting_kinds = 9;
constexpr bool lines_up(Waiting kind) { return kind >= Waiting::locks; }
std::string_view name_of(Waiting kind);  // "event streams"

// Maximum number of threads for each queue. Writes that wait for the disk share a sync, so the queue `locks`
// has many threads.
struct LineThreads {
  std::size_t locks = 64;
  std::size_t processors = 2 * std::max(1u, std::thread::hardware_concurrency());
};

class SlowLane {
 public:
  // A slot of one kind, held until this object is destroyed.
  // Requires: the lane outlives it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : lane_(std::exchange(other.lane_, nullptr)),
          kind_(other.kind_),
          account_(std::move(other.account_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(lane_, other.lane_);
      std::swap(kind_, other.kind_);
      std::swap(account_, other.account_);
      return *this;
    }
    ~Place() { leave(); }
    void leave() {
      if (lane_ != nullptr) std::exchange(lane_, nullptr)->give_back(kind_, account_);
    }
    explicit operator bool() const { return lane_ != nullptr; }

   private:
    friend class SlowLane;
    Place(SlowLane& lane, Waiting kind, std::string_view account)
        : lane_(&lane), kind_(kind), account_(account) {}
    SlowLane* lane_ = nullptr;
    Waiting kind_{};
    std::string account_;
  };
  static constexpr std::size_t held_for_each_free = 3;

  // `places`: the number of slots for each kind that has slots. `metrics` outlives the lane.
  SlowLane(std::size_t places, compat::ServerMetrics& metrics, LineThreads lines = {})
      : places_(places),
        metrics_(metrics),
        lines_{Line{.threads_max = lines.locks}, Line{.threads_max = lines.processors}},
        shortage_(metrics, compat::Meter::threads_failing, compat::Meter::thread_failures,
                  "cannot start threads for waiting requests") {}
  ~SlowLane() { end(); }
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  // Returns an empty Place if all slots of the kind are taken, or if the account already holds its share of
  // them. An empty account has no separate limit.
  // Requires: the kind has slots.
  [[nodiscard]] Place take(Waiting kind, std::string_view account);

  // Runs the job on another thread. Returns false if no thread can be started, or if the lane has ended. If
  // the lane ends before the job does, the lane requests `stop`.
  // Requires: the caller has a slot, or the job is short and does not wait; the job checks `stop` wherever it
  // waits.
  [[nodiscard]] bool run(std::stop_source stop, std::function<void()> job);

  // Runs the job when a thread of the queue is free. Returns false if no thread can be started, or if the
  // lane has ended. If the lane ends before the job's turn, the job runs with `stop` requested.
  // Requires: the kind queues up; the job ends on its own.
  [[nodiscard]] bool line_up(Waiting kind, const std::string& account, std::stop_source stop,
                             std::function<void()> job);

  // Asks all jobs to stop and waits until all of them have ended. Further jobs are rejected.
  void end();

 private:
  struct Job {
    std::stop_source stop;
    std::function<void()> run;
    std::optional<Waiting> line = std::nullopt;
    std::string account = {};  // set only for jobs that queue up
  };
  struct Line {
    struct Account {
      std::size_t running = 0;
      std::deque<Job> waiting;
    };
    std::size_t threads_max;
    std::size_t running = 0;
    std::map<std::string, Account, std::less<>> accounts = {};  // accounts with a job
    std::deque<std::string> turns = {};                         // accounts with a queued job, in order
  };
  static constexpr std::size_t line_count = waiting_kinds - kinds_with_places;
  Line& line_of(Waiting kind) REQUIRES(mutex_) {
    return lines_[static_cast<std::size_t>(kind) - kinds_with_places];
  }
  struct Taken {
    std::size_t all = 0;
    std::map<std::string, std::size_t, std::less<>> of_accounts;  // accounts with a slot
  };
  void work();
  // Returns false if no thread can be started. `comes_back`: the caller is a thread that looks for its next
  // job afterwards, so the job can wait for this thread.
  bool start(Job job, bool comes_back) REQUIRES(mutex_);
  bool start_lined_up(Waiting kind, bool comes_back)
      REQUIRES(mutex_);  // starts queued jobs up to the queue's limits
  void finished(Waiting kind, const std::string& account) REQUIRES(mutex_);
  void give_back(Waiting kind, std::string_view account);
  void count(Waiting kind, std::int64_t by);

  const std::size_t places_;
  compat::ServerMetrics& metrics_;
  engine::Mutex taken_mutex_;  // held for a few instructions
  std::array<Taken, kinds_with_places> taken_ GUARDED_BY(taken_mutex_);
  engine::Mutex mutex_;
  std::array<Line, line_count> lines_ GUARDED_BY(mutex_);
  Shortage shortage_ GUARDED_BY(mutex_);  // shortage of threads
  engine::Condition came_;
  std::deque<Job> jobs_
      GUARDED_BY(mutex_);  // longer than idle_ only while some threads are about to become idle
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::stop_source end_;
};

}  // namespace mayfly::http
