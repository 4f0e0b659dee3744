// ExportTableToPointInTime, DescribeExport, ListExports: a job writes a table's items as of an instant, or
// their changes within a window, to a bucket (compat/exports/export_work.h).
//
// {"TableArn":"arn:…:table/carts","S3Bucket":"exports","ExportTime":1700000000} ->
// {"ExportDescription":{"ExportArn":"arn:…:table/carts/export/01700000600000-1a2b3c4d",
//   "ExportStatus":"IN_PROGRESS",…}}
//
// Messages and their order were recorded on AWS in October 2026 (aws-controllers-k8s/dynamodb-controller,
// docs/api-quirks/export.md).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compat/buckets/buckets.h"
#include "compat/exports/description.h"
#include "compat/exports/export_request.h"
#include "compat/exports/export_window.h"
#include "compat/exports/export_work.h"
#include "compat/exports/filter.h"
#include "compat/items/read_target.h"
#include "compat/jobs/jobs.h"
#include "compat/operations/operations.h"
#include "compat/tables/arn.h"
#include "compat/tables/changes.h"
#include "compat/wire/shapes_common.h"
#include "engine/base/hex.h"

namespace mayfly::compat {
namespace {

using exports::ExportRequest;

// The first limit is AWS's quota of concurrent exports per account. The second one limits the waiting exports
// of all accounts, because each waiting export keeps old versions of items.
constexpr std::size_t exports_max = 300;
constexpr std::size_t waiting_in_all_max = 1'000;
constexpr std::int64_t page_max = 25;

constexpr Shape export_arn = string_shape(37, 1024);
constexpr Member describe_members[] = {
    {"ExportArn", &export_arn, required},
};
constexpr Shape describe_shape = structure("DescribeExportInput", describe_members);

constexpr Shape table_arn_shape = string_shape(1, 1024);
constexpr Shape results_shape = integer_shape(1, page_max);
constexpr Member list_members[] = {
    {"TableArn", &table_arn_shape},
    {"MaxResults", &results_shape},
    {"NextToken", &shapes::any_string},
};
constexpr Shape list_shape = structure("ListExportsInput", list_members);

Result<TableArn> read_table_arn(const Context& context, std::string_view text) {
  if (!text.starts_with("arn:")) {
    return error::validation("One or more parameter values were invalid: tableArn is not a valid ARN");
  }
  const auto arn = parse_table_arn(text);
  if (!arn) return error::validation("Invalid Request: Table ARN is invalid.");
  if (arn->account != context.scope.account) return error::access_denied("Access is denied");
  return *arn;
}

// Returns nullptr if no such table can be exported.
std::shared_ptr<engine::LiveTable> find_source(const Context& context, const TableArn& arn) {
  if (arn.region != context.scope.region) return nullptr;
  const auto status = context.table_changes.status(context.scope, arn.name);
  if (status == TableStatus::creating) return nullptr;
  return context.database.catalog().find(context.scope, arn.name);
}

Result<exports::Filter> read_filter(const Context& context, const json::Value& request,
                                    const std::shared_ptr<const engine::Table>& table) {
  const json::Value* const specification = request.member("FilterSpecification");
  if (specification == nullptr) return exports::Filter();
  return exports::Filter::read(*specification, table, context.frame);
}

void write_answer(json::Writer& out, const jobs::Job& job) {
  out.begin_object();
  out.key("ExportDescription");
  exports::write_description(out, job);
  out.end_object();
}

Result<void> start(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto arn, read_table_arn(context, *string_member(request, "TableArn")));
  TRY(ExportRequest asked, ExportRequest::read(request));
  const auto live = find_source(context, arn);
  if (live == nullptr) return error::table_not_found("Table not found: " + asked.table_arn);
  const auto table = live->description();
  TRY(auto filter, read_filter(context, request, table));

  // From here on, old versions are kept even if the table is dropped. A repeated request gets the same
  // response, even if its instant is no longer available. Errors about the instant are therefore reported
  // last.
  jobs::Job job = context.jobs.draft(context.scope, jobs::Kind::table_export);
  auto until = exports::resolve_window(context, *live, asked, job.started);
  std::unique_ptr<exports::Records> records;
  if (until) {
    asked.until = *until;
    records = exports::records_of(context, *live, asked);
    if (records == nullptr) until = exports::export_time_unavailable();
  }
  job.arn = exports::export_arn(asked.table_arn, job.id);
  job.table_name = table->name;
  job.table_uuid = table->uuid;
  job.client_token = asked.client_token;
  job.request = asked.stored();
  const auto decide = [&](const jobs::Jobs::Present& present) -> Result<bool> {
    if (present.same_token != nullptr) {
      if (asked.same_as(ExportRequest::parse(present.same_token->request))) return false;
      return error::export_conflict(
          "Export conflict: Duplicate request detected with conflicting parameters");
    }
    if (!until) return Unexpected{until.error()};
    if (present.unfinished >= exports_max || present.waiting_in_all >= waiting_in_all_max) {
      return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                   std::to_string(exports_max) + " concurrent exports");
    }
    return true;
  };
  auto work = std::make_unique<exports::ExportWork>(
      context.database, exports::ExportWork::Parts{.bucket = context.buckets.find(asked.bucket),
                                                   .table = table,
                                                   .records = std::move(records),
                                                   .asked = asked,
                                                   .filter = std::move(filter),
                                                   .partitions = scanned_partitions(*table)});
  TRY(const auto started, context.jobs.start(std::move(job), std::move(work), decide));
  write_answer(out, *started);
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  const std::string_view text = *string_member(request, "ExportArn");
  if (is_of_others(text, context.scope.account)) return error::access_denied("Access is denied");
  const auto arn = exports::parse_export_arn(text);
  if (!arn) return error::validation("Invalid Export ARN");
  if (arn->region != context.scope.region)
    return error::export_not_found("Export not found: Invalid export arn");
  const auto job = context.jobs.find(context.scope, jobs::Kind::table_export, arn->id);
  if (job == nullptr || job->arn != text)
    return error::export_not_found("Export not found: Export not found: " + std::string(text));
  write_answer(out, *job);
  return {};
}

// The position where the last page ended: its last ARN in hexadecimal digits, which sort like the ARNs.
std::string page_token(const jobs::Job& job) { return engine::hex(job.arn); }
bool is_page_token(std::string_view token) {
  return token.starts_with(engine::hex("arn:aws:dynamodb:")) &&
         token.find(engine::hex("/export/")) != std::string_view::npos &&
         token.find_first_not_of(engine::hex_digits) == std::string_view::npos;
}

void write_summary(json::Writer& out, const jobs::Job& job) {
  out.begin_object();
  out.key("ExportArn");
  out.string(job.arn);
  out.key("ExportStatus");
  out.string(jobs::name_of(job.status()));
  out.key("ExportType");
  out.string(ExportRequest::parse(job.request).incremental() ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
  out.end_object();
}

// With a table's ARN, lists only exports of the table that has this ARN now, not of its predecessors.
Result<void> list(Context& context, const json::Value& request, json::Writer& out) {
  std::optional<std::string> table_uuid;
  if (const auto text = string_member(request, "TableArn")) {
    TRY(const auto arn, read_table_arn(context, *text));
    const auto live = find_source(context, arn);
    table_uuid = live != nullptr ? live->description()->uuid : "";
  }
  const auto token = string_member(request, "NextToken");
  if (token && !is_page_token(*token)) {
    return error::validation("Invalid Request: Provided nextToken is invalid: " + std::string(*token));
  }
  auto jobs = context.jobs.list(context.scope, jobs::Kind::table_export);
  std::erase_if(jobs, [&](const auto& job) {
    return (table_uuid && job->table_uuid != *table_uuid) || (token && page_token(*job) >= *token);
  });
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->arn > b->arn; });
  const auto limit = static_cast<std::size_t>(integer_member(request, "MaxResults").value_or(page_max));
  const std::size_t count = std::min(limit, jobs.size());
  out.begin_object();
  out.key("ExportSummaries");
  out.begin_array();
  for (std::size_t i = 0; i < count; ++i) write_summary(out, *jobs[i]);
  out.end_array();
  if (count < jobs.size()) {
    out.key("NextToken");
    out.string(page_token(*jobs[count - 1]));
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::export_table_to_point_in_time{
    dynamodb,          "ExportTableToPointInTime",     Access::control,
    TablesIn::nothing, &exports::export_request_shape, &start};
constinit const Operation operations::describe_export{dynamodb,          "DescribeExport", Access::control,
                                                      TablesIn::nothing, &describe_shape,  &describe};
constinit const Operation operations::list_exports{dynamodb,          "ListExports", Access::control,
                                                   TablesIn::nothing, &list_shape,   &list};

}  // namespace mayfly::compat
