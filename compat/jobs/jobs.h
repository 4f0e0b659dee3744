// Runs an account's long work outside requests: exports, imports and bulk puts.
//
//   jobs::Job job = jobs.draft(scope, jobs::Kind::table_import);     // its id, and when it starts
//   job.arn = …; job.request = …;
//   TRY(const auto started, jobs.start(std::move(job), std::make_unique<Import>(…), decide));
//   jobs.find(scope, jobs::Kind::table_import, started->id)          // its current state
//
// At most `running_max` jobs of an account and `running_in_all_max` jobs in total run at the same time, on
// the threads of a separate scheduler. Other jobs wait for their turn in order of arrival; their status is
// also IN_PROGRESS. The result of a step is stored before it becomes visible.
//
// A restore or a reset of an account happens between two steps: running jobs are dropped and take no further
// step, and the account then has the snapshot's jobs. Jobs that were running when the snapshot was taken,
// like jobs that were running when the server stopped, are FAILED: their work is lost and is not silently
// restarted halfway. Each of these jobs is reported in a sentence. Rejected: continuing them. The bucket's
// contents can have changed since they were read, and AWS's own jobs also start over when they fail.
//
// Jobs are remembered for 90 days of the account's clock, as on AWS, but only the latest `remembered_max`
// jobs of each account are remembered. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compat/jobs/job.h"
#include "compat/jobs/work.h"
#include "compat/wire/error.h"
#include "engine/base/bell.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"

namespace mayfly::compat::jobs {

inline constexpr std::size_t running_max = 2, running_in_all_max = 4;
inline constexpr std::size_t remembered_max = 1'000;  // per account, in addition to unfinished jobs
inline constexpr std::size_t remembered_in_all_max = 50'000;
inline constexpr std::size_t log_lines_max = 10'000;  // per job
inline constexpr std::size_t log_line_bytes_max = 4 * 1024;
inline constexpr engine::Instant remembered_ms = std::int64_t{90} * 24 * 60 * 60 * 1000;

class Jobs {
 public:
  // `report` is called with a sentence for each job that was running when the server stopped. Requires: both
  // arguments outlive this object.
  Jobs(engine::Database& database, std::function<void(std::string_view)> report);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Returns a job that begins now, with a new, unique id.
  [[nodiscard]] Job draft(const engine::Scope& scope, Kind kind);

  // The jobs that exist when a draft is about to start.
  struct Present {
    const Job* same_token = nullptr;  // the latest job with the draft's kind and token that is unfinished or
                                      // ended at most eight hours ago
    std::size_t unfinished = 0;       // unfinished jobs of the draft's kind, in all regions of the account
    std::size_t waiting_in_all = 0;   // waiting jobs of all kinds and accounts
  };
  // Returns whether the draft starts; if not, start() returns the job with the same token.
  using Decide = std::function<Result<bool>(const Present& present)>;
  // Starts a job. Calls are serialized, so only one of two requests with the same token starts a job. Error:
  // InternalServerError if no thread can be started. Requires: the account is not being replaced. This is
  // always so within a request.
  Result<std::shared_ptr<const Job>> start(Job draft, std::unique_ptr<Work> work, const Decide& decide);

  // Returns nullptr if the job does not exist or is no longer remembered.
  [[nodiscard]] std::shared_ptr<const Job> find(const engine::Scope& scope, Kind kind,
                                                std::string_view id) const;
  // Return the jobs, latest first.
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> list(const engine::Scope& scope, Kind kind) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> list(std::string_view account) const;  // of all kinds
  // Returns the lines that the job's work logged, in order.
  [[nodiscard]] std::vector<std::string> log(const Job& job) const;

  // Cancels a job. A running job is CANCELLING until its work ends; a waiting job ends immediately with
  // `ending`; a finished job is unchanged. Returns nullptr if there is no such job. Requires: see start().
  std::shared_ptr<const Job> cancel(const engine::Scope& scope, Kind kind, std::string_view id,
                                    const Ending& ending = {Status::cancelled});

  // Waits until all jobs of the account are over. Returns false on time-out.
  bool settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop = {});

  // The number of running and waiting jobs of all accounts.
  struct Occupancy {
    std::size_t running = 0, waiting = 0;
  };
  [[nodiscard]] Occupancy occupancy() const;

 private:
  class Runner;                                                                       // one job's task
  using Remembered = std::map<std::string, std::shared_ptr<const Job>, std::less<>>;  // by "REGION/kind/ID"
  struct OfAccount {
    Remembered jobs;
    engine::Instant last_id = 0;  // the latest assigned
  };

  void load();
  void reload(std::string_view account);
  // Marks unfinished jobs, which no longer have a Work object, as failed and stores them. Returns these jobs.
  std::vector<std::shared_ptr<const Job>> adopt(std::string_view account,
                                                const std::vector<engine::Document>& documents,
                                                std::string_view why) REQUIRES(mutex_);
  void forget_old(const engine::Scope& scope) REQUIRES(mutex_);
  [[nodiscard]] const OfAccount* find_account(std::string_view account) const REQUIRES(mutex_);
  [[nodiscard]] bool is_forgotten(const Job& job) const;

  void keep(Job job, const std::vector<std::string>& log = {}, std::size_t first_line = 0) REQUIRES(mutex_);
  void run_next() REQUIRES(mutex_);
  // Runs one step of a job. Returns the pause before the next step; nullopt: the next step waits for a
  // wake-up.
  std::optional<std::chrono::milliseconds> step(Runner& runner);
  void end(Runner& runner) REQUIRES(mutex_);  // removes the job from the running jobs, so that others can run

  engine::Database& database_;
  const std::function<void(std::string_view)> report_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  engine::Bell ended_;

  // Acquired within requests of an account and while a table's gate is held. Only storage's locks are
  // acquired while this mutex is held.
  mutable engine::Mutex mutex_;
  std::map<std::string, OfAccount, std::less<>> accounts_ GUARDED_BY(mutex_);
  std::size_t remembered_ GUARDED_BY(mutex_) = 0;  // remembered jobs of all accounts
  std::vector<std::shared_ptr<Runner>> running_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Runner>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::jobs
