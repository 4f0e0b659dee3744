// /_mayfly/jobs: an account's exports, imports and bulk puts in all regions, latest first (jobs/jobs.h).
//
// GET  /_mayfly/jobs           {"jobs":[{"id":"01791506763707-476754e8","kind":"import","arn":"arn:…",
//                                "region":"us-east-1","table":"carts","status":"IN_PROGRESS","percent":40,
//                                "done":4096,"total":10240,"counts":{"ProcessedItemCount":12},"started":"…"}]}
//                              The list includes restores that run in the background,
//                              {"kind":"restore",…}. A restore's progress is counted in items.
// GET  /_mayfly/jobs/{id}      returns one job
// GET  /_mayfly/jobs/{id}/log  {"lines":[…]}: returns the job's log of problems, as JSON or text
// POST /_mayfly/jobs/await     {"timeout_seconds":30} -> {"settled":true,"unfinished":[]}: waits until all
//                              jobs are over
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/backups/restores.h"
#include "compat/control/families.h"
#include "compat/jobs/jobs.h"
#include "compat/tables/arn.h"

namespace mayfly::compat::control {
namespace {

constexpr double wait_seconds_default = 30, wait_seconds_max = 600;

json::Tree show(const jobs::Job& job) {
  json::Tree counts = json::Tree::object();
  for (const auto& [name, count] : job.progress.counts) counts[name] = count;
  json::Tree shown{{"id", job.id},
                   {"kind", jobs::name_of(job.kind)},
                   {"arn", job.arn},
                   {"region", job.scope.region},
                   {"table", job.table_name},
                   {"status", jobs::name_of(job.status())},
                   {"percent", job.percent()},
                   {"done", job.progress.done},
                   {"total", job.progress.total},
                   {"counts", std::move(counts)},
                   {"started", print_time(job.started)}};
  if (job.ended) shown["ended"] = print_time(*job.ended);
  if (!job.ending.failure_code.empty()) shown["failure_code"] = job.ending.failure_code;
  if (!job.ending.failure_message.empty()) shown["failure_message"] = job.ending.failure_message;
  return shown;
}

json::Tree show(const backups::Restores::Progress& restore) {
  // Show at most 99 percent until the table is ACTIVE, even if the source has more items than were counted.
  const std::int64_t total = std::max<std::int64_t>(restore.items_total, 1);
  return {{"id", "restore-" + restore.table_name},
          {"kind", "restore"},
          {"arn", table_arn(restore.scope, restore.table_name)},
          {"region", restore.scope.region},
          {"table", restore.table_name},
          {"status", "IN_PROGRESS"},
          {"percent", std::min<std::int64_t>(restore.items * 100 / total, 99)},
          {"done", restore.items},
          {"total", restore.items_total},
          {"counts", json::Tree::object()},
          {"started", print_time(restore.started)}};
}

Result<std::shared_ptr<const jobs::Job>> find_job(const Call& call) {
  for (auto& job : call.emulator.jobs().list(call.scope.account))
    if (job->id == call.parameters[0]) return std::move(job);
  return not_found("Account " + call.scope.account + " has no job " + call.parameters[0] + ".");
}

Result<json::Tree> list_jobs(Call& call) {
  json::Tree shown = json::Tree::array();
  for (const auto& job : call.emulator.jobs().list(call.scope.account)) shown.push_back(show(*job));
  for (const auto& restore : call.emulator.restores().progress(call.scope.account))
    shown.push_back(show(restore));
  return json::Tree{{"jobs", std::move(shown)}};
}

Result<json::Tree> show_job(Call& call) {
  TRY(const auto job, find_job(call));
  return show(*job);
}

Result<json::Tree> show_job_log(Call& call) {
  TRY(const auto job, find_job(call));
  json::Tree lines = json::Tree::array();
  for (const std::string& line : call.emulator.jobs().log(*job)) {
    auto tree = json::parse_tree(line, json::Decimals::as_written);
    lines.push_back(tree ? *std::move(tree) : json::Tree(line));
  }
  return json::Tree{{"lines", std::move(lines)}};
}

Result<json::Tree> await_jobs(Call& call) {
  const double seconds = call.body.number("timeout_seconds").value_or(wait_seconds_default);
  const auto time_max = std::chrono::milliseconds(std::llround(seconds * 1000));
  const auto deadline = engine::host_time() + time_max;
  const bool settled = call.emulator.jobs().settle(call.scope.account, deadline, call.stop) &&
                       call.emulator.restores().settle(call.scope.account, deadline, call.stop);
  if (!settled && call.stop.stop_requested()) return stopped();
  json::Tree unfinished = json::Tree::array();
  for (const auto& job : call.emulator.jobs().list(call.scope.account))
    if (!job->over()) unfinished.push_back(show(*job));
  for (const auto& restore : call.emulator.restores().progress(call.scope.account))
    unfinished.push_back(show(restore));
  return json::Tree{{"settled", settled}, {"unfinished", std::move(unfinished)}};
}

}  // namespace

std::span<const ControlCall> job_calls() {
  static constexpr Member place[] = {
      {"id", Kind::text, "Id of the job, as 'mayfly jobs' prints it", Given::always}};
  static constexpr Member await_body[] = {
      Member{"timeout_seconds", Kind::seconds, "Maximum time to wait, in real time"}
          .within(0, wait_seconds_max)
          .by_default("30")
          .as("--timeout")};
  static constexpr std::string_view kinds[] = {"export", "import", "bulk-put", "restore"};
  static constexpr Member count_members[] = {{"", Kind::whole, "Count"}};
  static constexpr Member job_members[] = {
      {"id", Kind::text, "Id of the job", Given::always},
      Member{"kind", Kind::text, "What the job does", Given::always}.of(kinds),
      {"arn", Kind::text, "ARN of the job", Given::always},
      {"region", Kind::text, "Region", Given::always},
      {"table", Kind::text, "Table", Given::always},
      {"status", Kind::text, "Status of the job, as DynamoDB names it", Given::always},
      {"percent", Kind::whole, "Progress in percent", Given::always},
      {"done", Kind::whole, "Bytes or items that the job has processed", Given::always},
      {"total", Kind::whole, "Bytes or items that the job will process", Given::always},
      Member{"counts", Kind::map, "Counts, with DynamoDB's names", Given::always}.with(count_members),
      {"started", Kind::time, "When the job started", Given::always},
      {"ended", Kind::time, "When the job ended"},
      {"failure_code", Kind::text, "DynamoDB's failure code"},
      {"failure_message", Kind::text, "Why the job failed"}};
  static constexpr Member list_answer[] = {
      Member{"jobs", Kind::list, "The account's jobs, latest first", Given::always}.with(job_members)};
  static constexpr Member log_answer[] = {
      {"lines", Kind::any, "The lines of the log, as strings or objects", Given::always}};
  static constexpr Member await_answer[] = {
      {"settled", Kind::flag, "Whether all jobs have ended", Given::always},
      Member{"unfinished", Kind::list, "Jobs that have not ended", Given::always}.with(job_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/jobs",
       .name = "list_jobs",
       .about = "List exports, imports and bulk puts",
       .answer = list_answer,
       .handle = &list_jobs},
      {.method = "GET",
       .path = "/_mayfly/jobs/{id}",
       .name = "show_job",
       .about = "Get one export, import or bulk put",
       .place = place,
       .answer = job_members,
       .handle = &show_job,
       .is_tool = false,
       .command = "jobs show"},
      {.method = "GET",
       .path = "/_mayfly/jobs/{id}/log",
       .name = "show_job_log",
       .about = "List the errors in the data that a job read",
       .place = place,
       .answer = log_answer,
       .handle = &show_job_log,
       .command = "jobs log",
       .rows = "lines",
       .when_empty = "The job's log is empty."},
      {.method = "POST",
       .path = "/_mayfly/jobs/await",
       .name = "await_jobs",
       .about = "Wait until all jobs have ended",
       .waits = Waits::for_others,
       .body = await_body,
       .answer = await_answer,
       .handle = &await_jobs,
       .command = "jobs await"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
