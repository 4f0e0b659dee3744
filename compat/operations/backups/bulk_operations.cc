// StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation: a job puts the contents
// of a bucket into an existing table (compat/imports/bulk_put.h).
//
// {"TableName":"carts","InputS3Configuration":{"S3Bucket":"in","InputFormat":"DYNAMODB_JSON"},
//  "OutputS3Configuration":{"S3Bucket":"out","OutputType":["ERROR"]}} ->
// {"BulkOperationDescription":{"BulkOperationArn":"arn:…:table/carts/bulk-operation/01700000600000-1a2b3c4d",
//   "BulkOperationStatus":"IN_PROGRESS",…}}
//
// Shapes, statuses and counts follow the API model of botocore 1.44.5 and the developer guide's "Bulk put
// items". AWS's error messages have not been published yet.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compat/imports/bulk_put.h"
#include "compat/imports/job_answers.h"
#include "compat/jobs/jobs.h"
#include "compat/json/json_members.h"
#include "compat/operations/operations.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_bucket.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

using jobs::Job;

// Maximum number of concurrent operations per account. AWS has a quota but does not publish it.
constexpr std::size_t operations_max = 50;
constexpr engine::Instant token_lifetime_ms = std::int64_t{8} * 60 * 60 * 1000;  // from the first request on
constexpr std::size_t page_default = 10;
constexpr std::int64_t page_max = 25;
constexpr std::string_view arn_kind = "/bulk-operation/";

constexpr std::string_view format_values[] = {"ION", "DYNAMODB_JSON"};
constexpr Shape format = enum_shape(format_values);
constexpr Member input_members[] = {
    {"S3BucketOwner", &shapes::bucket_owner},
    {"S3Bucket", &shapes::bucket_name, required},
    {"S3KeyPrefix", &shapes::key_prefix},
    {"InputFormat", &format, required},
    {"InputCompressionType", &shapes::input_compression},
};
constexpr Shape input = structure("InputS3Configuration", input_members);
constexpr std::string_view algorithm_values[] = {"KMS", "AES256"};
constexpr Shape algorithm = enum_shape(algorithm_values);
constexpr Shape key_id = string_shape(1, 2048);
constexpr std::string_view output_type_values[] = {"CONDITION_CHECK_FAILURE", "ERROR"};
constexpr Shape output_type = enum_shape(output_type_values);
constexpr Shape output_types = list_of(output_type);
constexpr Member output_members[] = {
    {"S3BucketOwner", &shapes::bucket_owner},
    {"S3Bucket", &shapes::bucket_name},
    {"S3KeyPrefix", &shapes::key_prefix},
    {"S3SseAlgorithm", &algorithm},
    {"S3SseKmsKeyId", &key_id},
    {"OutputType", &output_types, required},
};
constexpr Shape output = structure("OutputS3Configuration", output_members);
constexpr Shape units = long_shape(1024);
constexpr std::string_view tier_values[] = {"STANDARD", "ACCELERATED"};
constexpr Shape tier = enum_shape(tier_values);
constexpr Shape table_name = string_shape(1, 1024);
constexpr Member start_members[] = {
    {"ClientToken", &shapes::client_token},
    {"InputS3Configuration", &input, required},
    {"OutputS3Configuration", &output, required},
    {"TableName", &table_name, required},
    {"MaxWriteRequestUnits", &units},
    {"PerformanceTier", &tier},
};
constexpr Shape start_shape = structure("StartBulkPutItemsInput", start_members);

constexpr Shape operation_arn = string_shape(37, 1024);
constexpr Member arn_members[] = {
    {"BulkOperationArn", &operation_arn, required},
};
constexpr Shape describe_shape = structure("DescribeBulkOperationInput", arn_members);
constexpr Shape cancel_shape = structure("CancelBulkOperationInput", arn_members);

constexpr Shape max_results = integer_shape(1, page_max);
constexpr Shape next_token = string_shape(1, 1024, page_token_pattern);
constexpr Member list_members[] = {
    {"MaxResults", &max_results},
    {"NextToken", &next_token},
};
constexpr Shape list_shape = structure("ListBulkOperationsInput", list_members);

// --- requests

// Returns the request as DescribeBulkOperation shows it: as sent, plus the defaults of missing members. Two
// requests are equal if these strings are equal.
std::string stored(const json::Value& request, const std::string& account) {
  std::string text;
  json::Writer out(text);
  const auto configuration = [&](std::string_view name, std::initializer_list<std::string_view> further) {
    const json::Value& given = *request.member(name);
    out.key(name);
    out.begin_object();
    imports::write_bucket_owner(out, given, account);
    for (const std::string_view member : further) {
      if (const json::Value* const value = given.member(member)) {
        out.key(member);
        out.value(*value);
      } else if (member == "InputCompressionType") {
        out.key(member);
        out.string("NONE");
      }
    }
    out.end_object();
  };
  out.begin_object();
  out.key("TableName");
  out.string(*string_member(request, "TableName"));
  configuration("InputS3Configuration", {"S3Bucket", "S3KeyPrefix", "InputFormat", "InputCompressionType"});
  configuration("OutputS3Configuration",
                {"S3Bucket", "S3KeyPrefix", "S3SseAlgorithm", "S3SseKmsKeyId", "OutputType"});
  if (const auto given = integer_member(request, "MaxWriteRequestUnits")) {
    out.key("MaxWriteRequestUnits");
    out.integer(*given);
  }
  out.key("PerformanceTier");
  out.string(string_member(request, "PerformanceTier").value_or("STANDARD"));
  out.end_object();
  return text;
}

Result<imports::BulkPut::Options> read_options(const json::Value& request) {
  const json::Value& from = *request.member("InputS3Configuration");
  const json::Value& to = *request.member("OutputS3Configuration");
  const auto text = [](const json::Value& object, std::string_view name) {
    return std::string(string_member(object, name).value_or(""));
  };
  imports::BulkPut::Options options;
  options.source = {
      .bucket = text(from, "S3Bucket"),
      .prefix = text(from, "S3KeyPrefix"),
      .files = {.format = text(from, "InputFormat") == "ION" ? data_files::Format::ion
                                                             : data_files::Format::dynamodb_json,
                .compression = imports::read_compression(from),
                .with_conditions = true}};
  options.report = {.input_bucket = options.source.bucket, .prefix = text(to, "S3KeyPrefix")};
  for (const json::Value& each : to.member("OutputType")->items()) {
    if (each.string() == "ERROR") options.report.errors = true;
    if (each.string() == "CONDITION_CHECK_FAILURE") options.report.condition_failures = true;
  }
  options.report_bucket = text(to, "S3Bucket");
  options.units_max = integer_member(request, "MaxWriteRequestUnits");
  if (options.report_bucket.empty())
    return error::validation("Invalid Request: OutputS3Configuration must specify S3Bucket.");
  if (!options.report.errors && !options.report.condition_failures)
    return error::validation("Invalid Request: OutputType must have at least one value.");
  const auto sse = string_member(to, "S3SseAlgorithm");
  if (to.member("S3SseKmsKeyId") != nullptr && sse != "KMS") {
    return error::validation(
        "Invalid Request: S3SseKmsKeyId can only be specified when S3SseAlgorithm is KMS.");
  }
  return options;
}

// Whether items can be put into the table. All of its indexes must be complete.
Result<void> check_target(const Context& context, const engine::LiveTable& table) {
  const auto description = table.description();
  const std::string& own_name = description->name;
  const auto change = context.table_changes.find(context.scope, own_name);
  if (change && change->status != TableStatus::updating) CHECK_OK(check_settled(context, own_name));
  // From AWS's guide, "Bulk put items": the table must not be a global table, and must not be in the process
  // of becoming a global table or of ceasing to be one.
  if (!description->replicas.empty())
    return error::validation("Bulk put items does not support global tables: " + own_name);
  if (change && change->global) CHECK_OK(check_settled(context, own_name));
  const bool creates_index =
      std::any_of(description->indexes.begin(), description->indexes.end(),
                  [](const engine::Index& index) { return index.state == engine::Index::State::creating; });
  if (creates_index) {
    return error::resource_in_use(
        "Attempt to change a resource which is still in use: Table is being updated: " + own_name);
  }
  return {};
}

// --- responses

// Writes the usage of the indexes. The job stores this usage in the counts whose names begin with `prefix`.
void write_index_usage(json::Writer& out, const Job& job, std::string_view member, std::string_view prefix,
                       std::string_view bytes_name) {
  bool any = false;
  for (const auto& [name, bytes] : job.progress.counts) {
    if (!name.starts_with(prefix)) continue;
    if (!std::exchange(any, true)) {
      out.key(member);
      out.begin_object();
    }
    out.key(std::string_view(name).substr(prefix.size()));
    out.begin_object();
    out.key(bytes_name);
    out.integer(bytes);
    out.end_object();
  }
  if (any) out.end_object();
}

void write_usage(json::Writer& out, const Job& job, std::string_view table) {
  std::int64_t all = job.count("bytes");
  for (const auto& [name, bytes] : job.progress.counts)
    if (name.starts_with("gsi/") || name.starts_with("lsi/")) all += bytes;
  out.key("BulkOperationUsage");
  out.begin_array();
  out.begin_object();
  out.key("TableName");
  out.string(table);
  out.key("BulkPutBytes");
  out.integer(all);
  out.key("Table");
  out.begin_object();
  out.key("BulkPutBytes");
  out.integer(job.count("bytes"));
  out.end_object();
  write_index_usage(out, job, "LocalSecondaryIndexes", "lsi/", "BulkPutBytes");
  write_index_usage(out, job, "GlobalSecondaryIndexes", "gsi/", "BulkPutBytes");
  write_index_usage(out, job, "VectorIndexes", "vector/", "BulkPutVectorBytes");
  out.end_object();
  out.end_array();
}

void write_answer(json::Writer& out, const Job& job) {
  const auto request = json::parse(job.request);
  const std::string_view table = *string_member(request->root(), "TableName");
  out.begin_object();
  out.key("BulkOperationDescription");
  out.begin_object();
  member_if_any(out, "BulkOperationArn", job.arn);
  member_if_any(out, "BulkOperationStatus", jobs::name_of(job.status()));
  out.key("TableDetails");
  out.begin_array();
  out.begin_object();
  out.key("TableName");
  out.string(table);
  out.key("TableId");
  out.string(job.table_uuid);
  out.end_object();
  out.end_array();
  member_if_any(out, "ClientToken", job.client_token);
  imports::write_members(out, request->root(), {"InputS3Configuration", "OutputS3Configuration"});
  imports::write_times(out, job);
  for (const char* const name : {"ProcessedItemCount", "ProcessedInputBytes", "TotalInputBytes"})
    imports::write_count(out, job, name);
  if (job.progress.counts.contains("TotalInputBytes")) write_usage(out, job, table);
  imports::write_count(out, job, "FailedItemCount");
  imports::write_failure(out, job);
  imports::write_members(out, request->root(), {"MaxWriteRequestUnits", "PerformanceTier"});
  out.end_object();
  out.end_object();
}

// --- the operations

Result<void> start(Context& context, const json::Value& request, json::Writer& out) {
  TRY(auto options, read_options(request));
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  TRY(const auto table, find_named_table(context, name));
  CHECK_OK(check_target(context, *table));
  const auto description = table->description();
  Job job = context.jobs.draft(context.scope, jobs::Kind::bulk_put);
  job.arn = table_arn(*description) + std::string(arn_kind) + job.id;
  job.table_name = description->name;
  job.table_uuid = description->uuid;
  job.client_token = string_member(request, "ClientToken").value_or("");
  job.request = stored(request, context.scope.account);
  const auto decide = [&](const jobs::Jobs::Present& present) -> Result<bool> {
    const Job* const same = present.same_token;
    if (same != nullptr && same->started + token_lifetime_ms > context.now()) {
      if (same->request == job.request) return false;
      return error::idempotent_parameter_mismatch(
          "DynamoDB rejected the request because you retried a request with a different payload but with an "
          "idempotent token that was already used.");
    }
    if (present.unfinished >= operations_max) {
      return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                   std::to_string(operations_max) + " concurrent bulk operations");
    }
    return true;
  };
  auto work = std::make_unique<imports::BulkPut>(context, table, std::move(options));
  // Check the table again while it cannot change: if a bulk put and the creation of a replica start at the
  // same time, one of the two must fail.
  const auto start_held = [&]() -> Result<std::shared_ptr<const Job>> {
    CHECK_OK(check_target(context, *table));
    return context.jobs.start(job, std::move(work), decide);
  };
  std::optional<Result<std::shared_ptr<const Job>>> started;
  if (!context.database.tables().hold(table, [&] { started = start_held(); }))
    return named_table_not_found(name);
  TRY(const auto begun, *std::move(started));
  write_answer(out, *begun);
  return {};
}

Result<std::shared_ptr<const Job>> find_operation_of(const Context& context, const json::Value& request) {
  const std::string_view text = *string_member(request, "BulkOperationArn");
  const auto arn = imports::parse_job_arn(text, arn_kind);
  if (!arn) return error::validation("Invalid BulkOperation ARN");
  if (arn->account != context.scope.account) return error::access_denied("Access is denied");
  auto job = context.jobs.find(context.scope, jobs::Kind::bulk_put, arn->id);
  if (job == nullptr || job->arn != text) {
    return error::resource_not_found("Requested resource not found: BulkOperation: " + std::string(text) +
                                     " not found");
  }
  return job;
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto job, find_operation_of(context, request));
  write_answer(out, *job);
  return {};
}

Result<void> cancel(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto job, find_operation_of(context, request));
  if (job->over()) {
    return error::validation("The bulk operation is not in progress: " + job->arn + " is " +
                             std::string(jobs::name_of(job->status())));
  }
  context.jobs.cancel(context.scope, job->kind, job->id, imports::cancelled_ending());
  out.begin_object();
  member_if_any(out, "BulkOperationArn", job->arn);
  member_if_any(out, "BulkOperationStatus", jobs::name_of(jobs::Status::cancelling));
  out.end_object();
  return {};
}

Result<void> list(Context& context, const json::Value& request, json::Writer& out) {
  const auto limit = static_cast<std::size_t>(integer_member(request, "MaxResults").value_or(page_default));
  TRY(const imports::JobPage page, imports::page_of(context.jobs.list(context.scope, jobs::Kind::bulk_put),
                                                    limit, string_member(request, "NextToken")));
  out.begin_object();
  out.key("BulkOperationsSummaryList");
  out.begin_array();
  for (const auto& job : page.jobs) {
    out.begin_object();
    member_if_any(out, "BulkOperationArn", job->arn);
    member_if_any(out, "BulkOperationStatus", jobs::name_of(job->status()));
    imports::write_times(out, *job);
    out.end_object();
  }
  out.end_array();
  member_if_any(out, "NextToken", page.next_token);
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::start_bulk_put_items{
    dynamodb, "StartBulkPutItems", Access::control, TablesIn::table_name, &start_shape, &start};
constinit const Operation operations::describe_bulk_operation{
    dynamodb, "DescribeBulkOperation", Access::control, TablesIn::nothing, &describe_shape, &describe};
constinit const Operation operations::list_bulk_operations{
    dynamodb, "ListBulkOperations", Access::control, TablesIn::nothing, &list_shape, &list};
constinit const Operation operations::cancel_bulk_operation{
    dynamodb, "CancelBulkOperation", Access::control, TablesIn::nothing, &cancel_shape, &cancel};

}  // namespace mayfly::compat
