// The work of a job, done in steps; each kind of job implements it.
//
//   class Import final : public Work {
//     Step step(Run& run) override {
//       if (run.stop.stop_requested()) return Step::ends({Status::cancelled});
//       const auto listing = listing_.take();               // jobs/bucket_call.h
//       if (!listing) return Step::waits();
//       …
//       run.progress.counts["ProcessedItemCount"] += 64;
//       return Step::goes_on();
//     }
//   };
//
// A step does a bounded amount of work, such as a few pieces of a file or a few dozen items, and does not
// block. While a step runs, the job's account is not replaced (Account::begin_request), so the step can use
// the account's tables as a request can, but it must not call Account::take_turn. The step's changes to
// `progress` and `log` are stored and become visible when the step returns.
//
// A Work object is destroyed without another step when its account is restored or reset, and when the server
// stops. It must release what it holds, leave no incomplete file that looks complete, and notify nothing.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "compat/jobs/job.h"

namespace mayfly::compat::jobs {

struct Step {
  enum class Then : std::uint8_t { goes_on, rests, waits, ends };
  Then then;
  Ending ending{};
  std::chrono::milliseconds pause{};

  static Step goes_on() { return {Then::goes_on}; }
  // Waits until Run::wake is called; a call before the step returns also counts.
  static Step waits() { return {Then::waits}; }
  // Pauses for this much real time. Wake-ups do not end the pause, but a cancellation does.
  static Step rests(std::chrono::milliseconds pause) { return {.then = Then::rests, .pause = pause}; }
  static Step ends(Ending ending) { return {Then::ends, std::move(ending)}; }
};

struct Run {
  const Job& job;      // before the step
  Progress& progress;  // of the job; the step updates it
  // Receives human-readable lines about problems. At most log_lines_max lines of a job are kept; further ones
  // are dropped.
  std::vector<std::string>& log;
  // Requested when the job is cancelled or about to be dropped: calls in flight must end.
  const std::stop_token& stop;
  const std::function<void()>& wake;  // thread-safe; can outlive the job
};

class Work {
 public:
  virtual ~Work() = default;
  virtual Step step(Run& run) = 0;
};

}  // namespace mayfly::compat::jobs
