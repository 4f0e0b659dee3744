#include "compat/jobs/jobs.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "engine/base/attempt.h"
#include "engine/base/text.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::jobs {
namespace {

constexpr std::string_view log_kind = "@job-log";
constexpr std::size_t threads_max = 2;
constexpr engine::Instant token_lifetime_ms = std::int64_t{8} * 60 * 60 * 1000;

std::string prefix_of(const engine::Scope& scope, Kind kind) {
  return scope.region + "/" + std::string(name_of(kind)) + "/";
}

std::string key_of(const Job& job) { return prefix_of(job.scope, job.kind) + job.id; }

// Returns the time in a job's id, or 0 if the id contains no time.
engine::Instant instant_of(std::string_view id) {
  engine::Instant instant = 0;
  for (const char c : id.substr(0, id.find('-'))) {
    if (!engine::is_digit(c) || instant > engine::last_instant) return 0;
    instant = instant * 10 + (c - '0');
  }
  return instant;
}

std::string log_name(const Job& job, std::size_t line) {
  char number[16];
  std::snprintf(number, sizeof number, "/%06zu", line);
  return key_of(job) + number;
}

Ending cut_off(std::string_view why) { return {Status::failed, "InternalServerError", std::string(why)}; }

}  // namespace

class Jobs::Runner final : public engine::Task, public std::enable_shared_from_this<Runner> {
 public:
  Runner(Jobs& jobs, const Job& job, std::unique_ptr<Work> work)
      : of(jobs), account(job.scope.account), key(key_of(job)), work(std::move(work)) {}

  Jobs& of;  // exists during every step: ~Jobs ends the scheduler first
  const std::string account, key;
  std::unique_ptr<Work> work;  // nullptr: dropped; used by steps, and by a thread that has the account to
                               // itself
  std::function<void()> wake;
  std::stop_source stop;
  std::size_t log_lines = 0;                   // the lines logged so far; used by steps
  std::optional<Ending> failing;               // the ending to store after a storage failure; used by steps
  std::optional<engine::RealTime> rest_until;  // used by steps
  bool dropped = false;                        // the job is over or its account was replaced; guarded by
                                               // `of`'s mutex

 private:
  Next step() override {
    if (rest_until && of.scheduler_->now() < *rest_until && !stop.stop_requested())
      return Next::at(*rest_until);
    rest_until.reset();
    const auto pause = of.step(*this);
    if (!pause) return Next::when_woken();
    if (pause->count() == 0) return Next::at_once();
    rest_until = of.scheduler_->now() + *pause;
    return Next::at(*rest_until);
  }
  Next failed(std::string_view why) override {
    failing = cut_off(why);
    return Next::after(*of.scheduler_, fault_wait);
  }
};

Jobs::Jobs(engine::Database& database, std::function<void(std::string_view)> report)
    : database_(database),
      report_(std::move(report)),
      scheduler_(database.options().make_scheduler(threads_max)) {
  load();
  database_.documents().listen(this, [this](std::string_view account) { reload(account); });
}

Jobs::~Jobs() {
  database_.documents().listen(this, {});
  std::vector<std::shared_ptr<Runner>> all;
  {
    const engine::Lock lock(mutex_);
    all = running_;
    for (const auto& runner : all) runner->dropped = true;
  }
  for (const auto& runner : all) runner->stop.request_stop();
  scheduler_->end();  // waits for the steps in progress, which are short
}

// --- loading and listing

void Jobs::load() {
  std::map<std::string, std::vector<engine::Document>> by_account;
  for (engine::Document& document : database_.documents().list(document_kind))
    by_account[document.name.account].push_back(std::move(document));
  const engine::Lock lock(mutex_);
  for (const auto& [account, documents] : by_account) {
    for (const auto& job : adopt(account, documents, "The server stopped while the job was running.")) {
      if (report_) {
        report_("the " + std::string(name_of(job->kind)) + " " + job->arn +
                " failed because the server stopped while it was running");
      }
    }
  }
}

std::vector<std::shared_ptr<const Job>> Jobs::adopt(std::string_view account,
                                                    const std::vector<engine::Document>& documents,
                                                    std::string_view why) {
  OfAccount& of_account = accounts_[std::string(account)];
  remembered_ -= of_account.jobs.size();
  of_account.jobs.clear();
  std::vector<std::shared_ptr<const Job>> failed;
  for (const engine::Document& document : documents) {
    std::optional<Job> job = from_document(document);
    if (!job) continue;
    of_account.last_id = std::max(of_account.last_id, instant_of(job->id));
    const bool fails = !job->over();
    if (fails) {
      job->ending = cut_off(why);
      job->ended = std::max(database_.accounts().of(account).now(), job->started);
      const engine::Document stored = to_document(*job);
      // If storing fails, the job still counts as failed, and the next load marks it as failed again.
      engine::attempt([&] { database_.documents().put(stored.name, stored.bytes); }, [](std::string_view) {});
    }
    auto kept = std::make_shared<const Job>(*std::move(job));
    if (fails) failed.push_back(kept);
    of_account.jobs[document.name.name] = std::move(kept);
  }
  remembered_ += of_account.jobs.size();
  return failed;
}

void Jobs::reload(std::string_view account) {
  std::vector<std::shared_ptr<Runner>> dropped;
  {
    const engine::Lock lock(mutex_);
    const auto drop = [&](auto& runners) {
      std::erase_if(runners, [&](const auto& runner) {
        if (runner->account != account) return false;
        runner->dropped = true;
        runner->work.reset();  // no step is running, and no request can start one
        dropped.push_back(runner);
        return true;
      });
    };
    drop(running_);
    drop(waiting_);
    adopt(account, database_.documents().list(account, document_kind),
          "The account was restored from a snapshot that was taken while the job was running.");
    run_next();
  }
  for (const auto& runner : dropped) runner->stop.request_stop();
  ended_.ring();
}

const Jobs::OfAccount* Jobs::find_account(std::string_view account) const {
  const auto found = accounts_.find(account);
  return found == accounts_.end() ? nullptr : &found->second;
}

bool Jobs::is_forgotten(const Job& job) const {
  return job.ended && *job.ended + remembered_ms < database_.accounts().of(job.scope.account).now();
}

std::shared_ptr<const Job> Jobs::find(const engine::Scope& scope, Kind kind, std::string_view id) const {
  const engine::Lock lock(mutex_);
  const OfAccount* const of_account = find_account(scope.account);
  if (of_account == nullptr) return nullptr;
  const auto found = of_account->jobs.find(prefix_of(scope, kind) + std::string(id));
  return found == of_account->jobs.end() || is_forgotten(*found->second) ? nullptr : found->second;
}

std::vector<std::shared_ptr<const Job>> Jobs::list(const engine::Scope& scope, Kind kind) const {
  std::vector<std::shared_ptr<const Job>> jobs;
  const std::string prefix = prefix_of(scope, kind);
  const engine::Lock lock(mutex_);
  const OfAccount* const of_account = find_account(scope.account);
  if (of_account == nullptr) return jobs;
  for (auto job = of_account->jobs.lower_bound(prefix);
       job != of_account->jobs.end() && job->first.starts_with(prefix); ++job)
    if (!is_forgotten(*job->second)) jobs.push_back(job->second);
  std::reverse(jobs.begin(), jobs.end());
  return jobs;
}

std::vector<std::shared_ptr<const Job>> Jobs::list(std::string_view account) const {
  std::vector<std::shared_ptr<const Job>> jobs;
  {
    const engine::Lock lock(mutex_);
    const OfAccount* const of_account = find_account(account);
    if (of_account == nullptr) return jobs;
    for (const auto& [key, job] : of_account->jobs)
      if (!is_forgotten(*job)) jobs.push_back(job);
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->id > b->id; });
  return jobs;
}

std::vector<std::string> Jobs::log(const Job& job) const {
  std::vector<std::string> lines;
  for (engine::Document& line : database_.documents().list(job.scope.account, log_kind, key_of(job) + "/"))
    lines.push_back(std::move(line.bytes));
  return lines;
}

Jobs::Occupancy Jobs::occupancy() const {
  const engine::Lock lock(mutex_);
  return {running_.size(), waiting_.size()};
}

// --- starting

Job Jobs::draft(const engine::Scope& scope, Kind kind) {
  const engine::Instant now = database_.accounts().of(scope.account).now();
  Job job{.scope = scope, .kind = kind, .started = now};
  engine::Instant number = 0;
  {
    const engine::Lock lock(mutex_);
    engine::Instant& last = accounts_[scope.account].last_id;
    number = last = std::max(now, last + 1);  // unique even on a frozen clock
  }
  char id[32];
  std::snprintf(id, sizeof id, "%014lld-%08x", static_cast<long long>(number),
                static_cast<unsigned>(database_.options().random->next() & 0xffff'ffff));
  job.id = id;
  return job;
}

Result<std::shared_ptr<const Job>> Jobs::start(Job draft, std::unique_ptr<Work> work, const Decide& decide) {
  const engine::Lock lock(mutex_);
  Present present;
  const std::string prefix = prefix_of(draft.scope, draft.kind);
  std::shared_ptr<const Job> same_token;
  const engine::Instant now = database_.accounts().of(draft.scope.account).now();
  for (const auto& [key, job] : accounts_[draft.scope.account].jobs) {
    if (job->kind == draft.kind && !job->over()) ++present.unfinished;
    if (draft.client_token.empty() || !key.starts_with(prefix) || job->client_token != draft.client_token)
      continue;
    if (!job->ended || *job->ended + token_lifetime_ms > now)
      same_token = job;  // the last match is the latest
  }
  present.same_token = same_token.get();
  present.waiting_in_all = waiting_.size();
  TRY(const bool starts, decide(present));
  if (!starts) return same_token;
  if (!scheduler_->start()) return error::internal_server_error();
  forget_old(draft.scope);
  auto runner = std::make_shared<Runner>(*this, draft, std::move(work));
  runner->wake = [scheduler = scheduler_, weak = runner->weak_from_this()] {
    if (const auto task = weak.lock()) scheduler->wake(task);
  };
  keep(std::move(draft));
  waiting_.push_back(runner);
  run_next();
  return accounts_[runner->account].jobs[runner->key];
}

// Called before a job is added. Removes jobs that are too old and, if too many remain, those that ended
// first.
void Jobs::forget_old(const engine::Scope& scope) {
  Remembered& jobs = accounts_[scope.account].jobs;
  std::vector<std::pair<engine::Instant, std::string>> over;  // by end time
  for (const auto& [key, job] : jobs)
    if (job->ended) over.emplace_back(*job->ended, key);
  std::sort(over.begin(), over.end());
  std::vector<engine::DocumentName> erased;
  for (const auto& [ended, key] : over) {
    const bool too_many =
        over.size() - erased.size() >= remembered_max || remembered_ >= remembered_in_all_max;
    const std::shared_ptr<const Job> job = jobs[key];
    if (!too_many && !is_forgotten(*job)) continue;
    erased.push_back(document_name(*job));
    for (engine::Document& line : database_.documents().list(scope.account, log_kind, key + "/"))
      erased.push_back(std::move(line.name));
    jobs.erase(key);
    --remembered_;
  }
  database_.documents().write(erased, {});
}

// Stores the job, then makes it visible.
void Jobs::keep(Job job, const std::vector<std::string>& log, std::size_t first_line) {
  std::vector<engine::Document> documents{to_document(job)};
  for (const std::string& line : log)
    documents.push_back({{job.scope.account, std::string(log_kind), log_name(job, first_line++)}, line});
  database_.documents().write({}, documents);
  std::shared_ptr<const Job>& kept = accounts_[job.scope.account].jobs[key_of(job)];
  if (kept == nullptr) ++remembered_;
  kept = std::make_shared<const Job>(std::move(job));
}

// --- running

void Jobs::run_next() {
  for (auto next = waiting_.begin(); next != waiting_.end() && running_.size() < running_in_all_max;) {
    const auto of_account = std::count_if(running_.begin(), running_.end(), [&](const auto& runner) {
      return runner->account == (*next)->account;
    });
    if (static_cast<std::size_t>(of_account) >= running_max) {
      ++next;
      continue;
    }
    running_.push_back(*next);
    scheduler_->wake(*next);
    next = waiting_.erase(next);
  }
}

std::optional<std::chrono::milliseconds> Jobs::step(Runner& runner) {
  const auto request = database_.accounts().of(runner.account).begin_request();
  std::shared_ptr<const Job> before;
  {
    const engine::Lock lock(mutex_);
    if (runner.dropped) return std::nullopt;
    before = accounts_[runner.account].jobs[runner.key];
  }
  Progress progress = before->progress;
  std::vector<std::string> log;
  const std::stop_token stop = runner.stop.get_token();
  Run run{*before, progress, log, stop, runner.wake};
  if (runner.failing) runner.work.reset();  // releases resources before the failure becomes visible
  const Step step = runner.failing ? Step::ends(*runner.failing) : runner.work->step(run);

  log.resize(std::min(log.size(), log_lines_max - runner.log_lines));
  for (std::string& line : log) line.resize(std::min(line.size(), log_line_bytes_max));
  const engine::Lock lock(mutex_);
  if (runner.dropped) return std::nullopt;
  Job job = *accounts_[runner.account].jobs[runner.key];  // the job may have been canceled meanwhile
  const bool ends = step.then == Step::Then::ends;
  std::optional<std::chrono::milliseconds> pause;
  if (step.then == Step::Then::goes_on) pause.emplace(0);
  if (step.then == Step::Then::rests) pause = step.pause;
  if (!ends && log.empty() && progress == job.progress) return pause;
  job.progress = std::move(progress);
  if (ends) {
    job.ending = step.ending;
    job.ended = std::max(database_.accounts().of(runner.account).now(), job.started);
  }
  keep(std::move(job), log, runner.log_lines);
  runner.log_lines += log.size();
  if (ends) end(runner);
  return pause;
}

void Jobs::end(Runner& runner) {
  runner.dropped = true;  // a late wake-up must not look for the job, which may have been removed
  std::erase_if(running_, [&](const auto& other) { return other.get() == &runner; });
  run_next();
  ended_.ring();
}

std::shared_ptr<const Job> Jobs::cancel(const engine::Scope& scope, Kind kind, std::string_view id,
                                        const Ending& ending) {
  const auto found = find(scope, kind, id);
  if (found == nullptr) return nullptr;
  std::shared_ptr<Runner> runs, never_ran;
  std::shared_ptr<const Job> cancelled;
  {
    const engine::Lock lock(mutex_);
    const std::string key = key_of(*found);
    const auto is_it = [&](const auto& runner) {
      return runner->key == key && runner->account == scope.account;
    };
    const Remembered& jobs = accounts_[scope.account].jobs;
    const auto kept = jobs.find(key);
    if (kept == jobs.end()) return found;  // the job was over and was removed just now
    Job job = *kept->second;
    const auto waits = std::find_if(waiting_.begin(), waiting_.end(), is_it);
    const auto running = std::find_if(running_.begin(), running_.end(), is_it);
    if (waits != waiting_.end()) {
      job.ending = ending;
      job.ended = std::max(database_.accounts().of(scope.account).now(), job.started);
      keep(std::move(job));
      never_ran = *waits;
      waiting_.erase(waits);
      ended_.ring();
    } else if (running != running_.end() && job.status() == Status::in_progress) {
      job.ending = {Status::cancelling};
      keep(std::move(job));
      runs = *running;
    }
    cancelled = accounts_[scope.account].jobs[key];
  }
  if (runs != nullptr) {
    runs->stop.request_stop();
    scheduler_->wake(runs);
  }
  return cancelled;
}

bool Jobs::settle(std::string_view account, engine::RealTime deadline, const std::stop_token& stop) {
  const std::stop_callback wakes_us(stop, [this] { ended_.ring(); });
  while (true) {
    const auto ticket = ended_.ticket();
    {
      const engine::Lock lock(mutex_);
      const auto is_of_account = [&](const auto& runner) { return runner->account == account; };
      if (std::none_of(running_.begin(), running_.end(), is_of_account) &&
          std::none_of(waiting_.begin(), waiting_.end(), is_of_account))
        return true;
    }
    if (stop.stop_requested() || !ended_.wait(ticket, deadline)) return false;
  }
}

}  // namespace mayfly::compat::jobs
