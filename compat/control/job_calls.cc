// /_mayfly/jobs: exports, imports and bulk puts of an account, in all regions, the latest first
// (jobs/jobs.h).
//
// GET  /_mayfly/jobs           {"jobs":[{"id":"01791506763707-476754e8","kind":"import","arn":"arn:…",
//                                "region":"us-east-1","table":"carts","status":"IN_PROGRESS","percent":40,
//                                "done":4096,"total":10240,"counts":{"ProcessedItemCount":12},"started":"…"}]}
// GET  /_mayfly/jobs/{id}      one of them
// GET  /_mayfly/jobs/{id}/log  {"lines":[…]}, what it wrote down of what was wrong: JSON, or text
// POST /_mayfly/jobs/await     {"timeout_seconds":30} -> {"settled":true,"unfinished":[]}: waits until all
//                              are over
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/jobs/jobs.h"

namespace mayfly::compat::control {
namespace {

constexpr double timeout_seconds_default = 30, timeout_seconds_max = 600;

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

Result<std::shared_ptr<const jobs::Job>> find_job(const Call& call) {
  for (auto& job : call.emulator.jobs().list(call.scope.account))
    if (job->id == call.parameters[0]) return std::move(job);
  return not_found("Account " + call.scope.account + " has no job " + call.parameters[0] + ".");
}

}  // namespace

Result<json::Tree> list_jobs(Call& call) {
  json::Tree shown = json::Tree::array();
  for (const auto& job : call.emulator.jobs().list(call.scope.account)) shown.push_back(show(*job));
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
  TRY(const auto timeout, call.body.number("timeout_seconds", 0, timeout_seconds_max));
  CHECK_OK(call.body.nothing_else());
  const auto time_max =
      std::chrono::milliseconds(std::llround(timeout.value_or(timeout_seconds_default) * 1000));
  const bool settled =
      call.emulator.jobs().settle(call.scope.account, engine::host_time() + time_max, call.stop);
  if (!settled && call.stop.stop_requested()) return stopped();
  json::Tree unfinished = json::Tree::array();
  for (const auto& job : call.emulator.jobs().list(call.scope.account))
    if (!job->over()) unfinished.push_back(show(*job));
  return json::Tree{{"settled", settled}, {"unfinished", std::move(unfinished)}};
}

}  // namespace mayfly::compat::control
