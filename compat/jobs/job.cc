#include "compat/jobs/job.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/json/json_tree.h"

namespace mayfly::compat::jobs {
namespace {

constexpr std::array kinds = {Kind::table_export, Kind::table_import, Kind::bulk_put};
constexpr std::array statuses = {Status::in_progress, Status::completed, Status::completed_with_errors,
                                 Status::cancelling,  Status::cancelled, Status::failed};

template <class Named>
auto named(const Named& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](auto one) { return name_of(one) == name; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::table_export: return "export";
    case Kind::table_import: return "import";
    case Kind::bulk_put: return "bulk-put";
  }
  return {};
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::in_progress: return "IN_PROGRESS";
    case Status::completed: return "COMPLETED";
    case Status::completed_with_errors: return "COMPLETED_WITH_ERRORS";
    case Status::cancelling: return "CANCELLING";
    case Status::cancelled: return "CANCELLED";
    case Status::failed: return "FAILED";
  }
  return {};
}

std::int64_t Job::count(std::string_view name) const {
  const auto found = progress.counts.find(name);
  return found == progress.counts.end() ? 0 : found->second;
}

int Job::percent() const {
  if (over()) return 100;
  if (progress.total == 0) return 0;
  const double part = static_cast<double>(progress.done) / static_cast<double>(progress.total);
  return std::min(static_cast<int>(part * 100), 99);
}

engine::DocumentName document_name(const Job& job) {
  return {job.scope.account, std::string(document_kind),
          job.scope.region + "/" + std::string(name_of(job.kind)) + "/" + job.id};
}

engine::Document to_document(const Job& job) {
  json::Tree counts = json::Tree::object();
  for (const auto& [name, count] : job.progress.counts) counts[name] = count;
  json::Tree tree{{"arn", job.arn},
                  {"table", job.table_name},
                  {"table_uuid", job.table_uuid},
                  {"token", job.client_token},
                  {"request", job.request},
                  {"started", job.started},
                  {"status", name_of(job.ending.status)},
                  {"failure_code", job.ending.failure_code},
                  {"failure_message", job.ending.failure_message},
                  {"done", job.progress.done},
                  {"total", job.progress.total},
                  {"counts", std::move(counts)}};
  if (job.ended) tree["ended"] = *job.ended;
  return {document_name(job), json::print(tree)};
}

std::optional<Job> from_document(const engine::Document& document) {
  const std::string_view name = document.name.name;
  const auto region_end = name.find('/'), kind_end = name.find('/', region_end + 1);
  const auto tree = json::parse_tree(document.bytes);
  if (document.name.kind != document_kind || kind_end == name.npos || !tree) return std::nullopt;
  const auto kind = named(kinds, name.substr(region_end + 1, kind_end - region_end - 1));
  const auto status = named(statuses, json::string_member(*tree, "status").value_or(""));
  if (!kind || !status) return std::nullopt;
  const auto text = [&](std::string_view member) {
    return std::string(json::string_member(*tree, member).value_or(""));
  };
  const auto number = [&](std::string_view member) {
    return static_cast<std::uint64_t>(json::integer_member(*tree, member).value_or(0));
  };
  Job job{.scope = {document.name.account, std::string(name.substr(0, region_end))},
          .kind = *kind,
          .id = std::string(name.substr(kind_end + 1)),
          .arn = text("arn"),
          .table_name = text("table"),
          .table_uuid = text("table_uuid"),
          .client_token = text("token"),
          .request = text("request"),
          .started = json::integer_member(*tree, "started").value_or(0),
          .ended = json::integer_member(*tree, "ended"),
          .ending = {*status, text("failure_code"), text("failure_message")},
          .progress = {.done = number("done"), .total = number("total")}};
  if (const json::Tree* const counts = json::member(*tree, "counts");
      counts != nullptr && counts->is_object())
    for (const auto& [what, count] : counts->items())
      job.progress.counts[what] = json::integer(count).value_or(0);
  return job;
}

}  // namespace mayfly::compat::jobs
