// Long work of an account's that goes on outside of requests: exports, imports and bulk puts.
//
//   jobs::Job job = jobs.draft(scope, jobs::Kind::table_import);     // its id, and when it starts
//   job.arn = …; job.request = …;
//   TRY(const auto started, jobs.start(std::move(job), std::make_unique<Import>(…), decide));
//   jobs.find(scope, jobs::Kind::table_import, started->id)          // as it is now
//
// A few jobs of an account run at once (`running_max`, of all `running_in_all_max`), on threads of a
// scheduler of its own; the others wait for their turn, in the order in which they came, and are IN_PROGRESS
// like them. What a step brought about is stored before anybody sees it.
//
// A restore or a reset of an account is an instant between two steps: what ran is dropped, and no step of it
// comes later. The jobs of the account are the snapshot's then. Those that ran when it was taken, as those
// that ran when the server ended, have FAILED: their work is gone, and half of it is not done again in
// silence. It is reported in a sentence each. Rejected: going on with them. What had been read of a bucket
// may be another by then, and AWS's own jobs begin anew, too, when they fail.
//
// Jobs are remembered for 90 days of the account's clock, as AWS does, the latest `remembered_max` of an
// account. Thread-safe.
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
#include "engine/bell.h"
#include "engine/database.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::compat::jobs {

inline constexpr std::size_t running_max = 2, running_in_all_max = 4;
inline constexpr std::size_t remembered_max = 1'000;  // of an account, those that are not over besides
inline constexpr std::size_t remembered_in_all_max = 50'000;
inline constexpr std::size_t log_lines_max = 10'000;  // of a job
inline constexpr std::size_t log_line_bytes_max = 4 * 1024;
inline constexpr engine::Instant remembered_ms = std::int64_t{90} * 24 * 60 * 60 * 1000;

class Jobs {
 public:
  // `report` is told of jobs that the server's end cut off, a sentence each. Both outlive it.
  Jobs(engine::Database& database, std::function<void(std::string_view)> report);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // A job that begins now, with an id that no other has.
  [[nodiscard]] Job draft(const engine::Scope& scope, Kind kind);

  // What there is of the draft's kind in its account and region when it is to start.
  struct Present {
    const Job* same_token = nullptr;  // the latest with its token, of the last eight hours or not over yet
    std::size_t unfinished = 0;       // of its kind, in all regions of the account
    std::size_t waiting_in_all = 0;   // of all kinds and accounts
  };
  // Whether the draft starts; else the job of the same token is the answer.
  using Decide = std::function<Result<bool>(const Present& present)>;
  // One start after the other, so that of two requests with one token one starts a job. InternalServerError:
  // no thread is to be had. Requires: the account is not being replaced, as in a request.
  Result<std::shared_ptr<const Job>> start(Job draft, std::unique_ptr<Work> work, const Decide& decide);

  // nullptr: there is none, or it is forgotten.
  [[nodiscard]] std::shared_ptr<const Job> find(const engine::Scope& scope, Kind kind,
                                                std::string_view id) const;
  // The latest first.
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> list(const engine::Scope& scope, Kind kind) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Job>> list(std::string_view account) const;  // of all kinds
  // The lines that its work logged, in their order.
  [[nodiscard]] std::vector<std::string> log(const Job& job) const;

  // It is CANCELLING until its work ends, or has ended so where it had not begun; one that is over is left as
  // it is. nullptr: there is none. Requires: as start.
  std::shared_ptr<const Job> cancel(const engine::Scope& scope, Kind kind, std::string_view id,
                                    const Ending& ending = {Status::cancelled});

  // Waits until all jobs of the account are over. False: not in time.
  bool settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop = {});

  // How many run and how many wait, of all accounts.
  struct Occupancy {
    std::size_t running = 0, waiting = 0;
  };
  [[nodiscard]] Occupancy occupancy() const;

 private:
  class Runner;                                                                       // one job's task
  using Remembered = std::map<std::string, std::shared_ptr<const Job>, std::less<>>;  // by "REGION/kind/ID"
  struct OfAccount {
    Remembered jobs;
    engine::Instant last_id = 0;  // the latest that was given
  };

  void load();
  void reload(std::string_view account);
  // What nobody works on any more has failed; stores that. Returns those.
  std::vector<std::shared_ptr<const Job>> adopt(std::string_view account,
                                                const std::vector<engine::Document>& documents,
                                                std::string_view why) REQUIRES(mutex_);
  void forget_old(const engine::Scope& scope) REQUIRES(mutex_);
  [[nodiscard]] const OfAccount* find_account(std::string_view account) const REQUIRES(mutex_);
  [[nodiscard]] bool is_forgotten(const Job& job) const;

  void keep(Job job, const std::vector<std::string>& log = {}, std::size_t first_line = 0) REQUIRES(mutex_);
  void run_next() REQUIRES(mutex_);
  // One step of a job; after which pause another is to follow. Nothing: when somebody wakes it.
  std::optional<std::chrono::milliseconds> step(Runner& runner);
  void end(Runner& runner) REQUIRES(mutex_);  // it runs no longer: others may

  engine::Database& database_;
  const std::function<void(std::string_view)> report_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  engine::Bell ended_;

  // Taken within an account's requests, and within tables' gates; nothing but storage within it.
  mutable engine::Mutex mutex_;
  std::map<std::string, OfAccount, std::less<>> accounts_ GUARDED_BY(mutex_);
  std::size_t remembered_ GUARDED_BY(mutex_) = 0;  // of all accounts
  std::vector<std::shared_ptr<Runner>> running_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Runner>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::jobs
