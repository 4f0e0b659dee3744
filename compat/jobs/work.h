// What a job does, in steps: the part that each kind writes.
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
// A step is a bounded piece of work that waits for nobody: some pieces of a file, some dozens of items. While
// it runs its account is not replaced (Database::begin_request), so it may use the account's tables as a
// request may; it takes no account's turn. What it changed of `progress` and `log` is stored when it returns,
// and seen from then on.
//
// A work is dropped, without another step, when its account is restored or reset and when the server ends: it
// lets go of what it holds, leaves no file half written that would look whole, and tells nobody.
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
  // Until Run::wake is called; a call may come before it returns.
  static Step waits() { return {Then::waits}; }
  // For so long of real time, whoever wakes it, but for who cancels it.
  static Step rests(std::chrono::milliseconds pause) { return {.then = Then::rests, .pause = pause}; }
  static Step ends(Ending ending) { return {Then::ends, std::move(ending)}; }
};

struct Run {
  const Job& job;      // as it was before the step
  Progress& progress;  // of it, for the step to change
  // Lines to be kept of what went wrong, for people; of a job log_lines_max at most, what comes then is
  // dropped.
  std::vector<std::string>& log;
  const std::stop_token&
      stop;  // it was cancelled, or is about to be dropped: calls that are under way shall end
  const std::function<void()>& wake;  // thread-safe, and may outlive the job
};

class Work {
 public:
  virtual ~Work() = default;
  virtual Step step(Run& run) = 0;
};

}  // namespace mayfly::compat::jobs
