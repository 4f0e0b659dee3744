// ImportTable, DescribeImport, ListImports: a job creates a table from the contents of a bucket
// (compat/imports/import.h).
//
// {"S3BucketSource":{"S3Bucket":"imports"},"InputFormat":"CSV","TableCreationParameters":{"TableName":…}} ->
// {"ImportTableDescription":{"ImportArn":"arn:…:table/carts/import/01700000600000-1a2b3c4d",
//   "ImportStatus":"IN_PROGRESS",…}}
//
// Messages and their order were recorded on AWS in October 2026 (aws-controllers-k8s/dynamodb-controller,
// docs/api-quirks/import.md). The job opens the bucket, so a missing bucket makes the job fail and not the
// request.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compat/imports/import.h"
#include "compat/imports/job_answers.h"
#include "compat/jobs/jobs.h"
#include "compat/json/json_members.h"
#include "compat/operations/operations.h"
#include "compat/tables/arn.h"
#include "compat/tables/changes.h"
#include "compat/tables/schema.h"
#include "compat/wire/shapes_bucket.h"
#include "compat/wire/shapes_table.h"
#include "compat/wire/shapes_vector.h"
#include "engine/base/uuid.h"

namespace mayfly::compat {
namespace {

using jobs::Job;

constexpr std::size_t imports_max = 50;  // concurrent imports per account: AWS's quota
constexpr std::size_t page_default = 10;
constexpr std::int64_t page_max = 25;

constexpr Shape delimiter = string_shape(1, 1, csv_delimiter_pattern);
constexpr Shape header = string_shape(1, 65536, csv_header_pattern);
constexpr Shape header_list = list_of(header, 1, 255);
constexpr Member csv_members[] = {
    {"Delimiter", &delimiter},
    {"HeaderList", &header_list},
};
constexpr Shape csv = structure("CsvOptions", csv_members);
constexpr Member format_options_members[] = {
    {"Csv", &csv},
};
constexpr Shape format_options = structure("InputFormatOptions", format_options_members);
constexpr std::string_view format_values[] = {"ION", "CSV", "DYNAMODB_JSON"};
constexpr Shape format = enum_shape(format_values);
constexpr Member source_members[] = {
    {"S3BucketOwner", &shapes::bucket_owner},
    {"S3Bucket", &shapes::bucket_name, required},
    {"S3KeyPrefix", &shapes::key_prefix},
};
constexpr Shape source = structure("S3BucketSource", source_members);
constexpr Member table_members[] = {
    {"TableName", &shapes::table_name, required},
    {"AttributeDefinitions", &shapes::attribute_definitions, required},
    {"KeySchema", &shapes::key_schema, required},
    {"BillingMode", &shapes::billing_mode},
    {"ProvisionedThroughput", &shapes::provisioned_throughput},
    {"OnDemandThroughput", &shapes::on_demand_throughput},
    {"SSESpecification", &shapes::encryption},
    {"GlobalSecondaryIndexes", &shapes::global_indexes},
    {"VectorIndexes", &shapes::vector_indexes},
};
constexpr Shape table_shape = structure("TableCreationParameters", table_members);
constexpr Member start_members[] = {
    {"ClientToken", &shapes::client_token, required},
    {"S3BucketSource", &source, required},
    {"InputFormat", &format, required},
    {"InputFormatOptions", &format_options},
    {"InputCompressionType", &shapes::input_compression},
    {"TableCreationParameters", &table_shape, required},
};
constexpr Shape start_shape = structure("ImportTableInput", start_members);

constexpr Shape import_arn = string_shape(37, 1024);
constexpr Member describe_members[] = {
    {"ImportArn", &import_arn, required},
};
constexpr Shape describe_shape = structure("DescribeImportInput", describe_members);

constexpr Shape table_arn_shape = string_shape(1, 1024);
constexpr Shape page_size = integer_shape(1, page_max);
constexpr Shape next_token = string_shape(112, 1024, page_token_pattern);
constexpr Member list_members[] = {
    {"TableArn", &table_arn_shape},
    {"PageSize", &page_size},
    {"NextToken", &next_token},
};
constexpr Shape list_shape = structure("ListImportsInput", list_members);

// --- requests

data_files::Format read_format(std::string_view name) {
  return name == "CSV"   ? data_files::Format::csv
         : name == "ION" ? data_files::Format::ion
                         : data_files::Format::dynamodb_json;
}

// CSV columns that are key attributes get the types of the keys.
void add_types(data_files::CsvOptions& options, const engine::Table& table) {
  const auto add = [&](const engine::KeySchema& keys) {
    for (const engine::KeyAttribute& attribute : keys.all()) {
      if (attribute.type == engine::ScalarType::number) options.types[attribute.name] = engine::Type::number;
      if (attribute.type == engine::ScalarType::binary) options.types[attribute.name] = engine::Type::binary;
    }
  };
  add(table.keys);
  for (const engine::Index& index : table.indexes) add(index.keys);
}

Result<data_files::ReaderOptions> read_files(const json::Value& request, const engine::Table& table) {
  const std::string_view name = *string_member(request, "InputFormat");
  data_files::ReaderOptions files{.format = read_format(name),
                                  .compression = imports::read_compression(request)};
  const json::Value* const options = request.member("InputFormatOptions");
  const json::Value* const given = options != nullptr ? options->member("Csv") : nullptr;
  if (given != nullptr && files.format != data_files::Format::csv) {
    return error::validation("Invalid Request: Unsupported InputFormatOptions for the given input format: " +
                             std::string(name) + ".");
  }
  if (given != nullptr) {
    if (const auto text = string_member(*given, "Delimiter")) files.csv.delimiter = text->front();
    if (const json::Value* const headers = given->member("HeaderList")) {
      for (const json::Value& each : headers->items()) files.csv.header.emplace_back(each.string());
    }
  }
  add_types(files.csv, table);
  return files;
}

// The request as DescribeImport shows it: as sent, plus the defaults of missing members.
std::string stored(const json::Value& request, const std::string& account) {
  const json::Value& given = *request.member("S3BucketSource");
  std::string text;
  json::Writer out(text);
  out.begin_object();
  out.key("S3BucketSource");
  out.begin_object();
  imports::write_bucket_owner(out, given, account);
  imports::write_members(out, given, {"S3Bucket", "S3KeyPrefix"});
  out.end_object();
  imports::write_members(out, request, {"InputFormat", "InputFormatOptions"});
  out.key("InputCompressionType");
  out.string(string_member(request, "InputCompressionType").value_or("NONE"));
  out.key("TableCreationParameters");
  out.value(*request.member("TableCreationParameters"));
  out.end_object();
  return text;
}

// --- responses

std::string log_group_arn(const engine::Scope& scope) {
  return "arn:aws:logs:" + scope.region + ":" + scope.account + ":log-group:/aws-dynamodb/imports:*";
}

// Writes a counter, which is 0 until the import is over. ScyllaDB's tests found that AWS's counters behave
// like this and that AWS rejects imports without a ClientToken (test/alternator/test_import.py, September
// 2026).
void write_counter(json::Writer& out, const Job& job, std::string_view name) {
  out.key(name);
  out.integer(job.over() ? job.count(name) : 0);
}

void write_answer(json::Writer& out, const Job& job) {
  const auto request = json::parse(job.request);
  out.begin_object();
  out.key("ImportTableDescription");
  out.begin_object();
  member_if_any(out, "ImportArn", job.arn);
  member_if_any(out, "ImportStatus", jobs::name_of(job.status()));
  member_if_any(out, "TableArn", table_arn(job.scope, job.table_name));
  member_if_any(out, "TableId", job.table_uuid);
  member_if_any(out, "ClientToken", job.client_token);
  imports::write_members(out, request->root(), {"S3BucketSource"});
  write_counter(out, job, "ErrorCount");
  member_if_any(out, "CloudWatchLogGroupArn", log_group_arn(job.scope));
  imports::write_members(
      out, request->root(),
      {"InputFormat", "InputFormatOptions", "InputCompressionType", "TableCreationParameters"});
  imports::write_times(out, job);
  if (job.over() || job.count("ProcessedSizeBytes") > 0) imports::write_count(out, job, "ProcessedSizeBytes");
  for (const char* const name : {"ProcessedItemCount", "ImportedItemCount"}) write_counter(out, job, name);
  imports::write_failure(out, job);
  out.end_object();
  out.end_object();
}

void write_summary(json::Writer& out, const Job& job) {
  const auto request = json::parse(job.request);
  out.begin_object();
  member_if_any(out, "ImportArn", job.arn);
  member_if_any(out, "ImportStatus", jobs::name_of(job.status()));
  member_if_any(out, "TableArn", table_arn(job.scope, job.table_name));
  imports::write_members(out, request->root(), {"S3BucketSource"});
  member_if_any(out, "CloudWatchLogGroupArn", log_group_arn(job.scope));
  imports::write_members(out, request->root(), {"InputFormat"});
  imports::write_times(out, job);
  out.end_object();
}

// --- the operations

bool is_taken(const Context& context, const std::string& name) {
  return context.database.catalog().find(context.scope, name) != nullptr ||
         context.table_changes.status(context.scope, name) == TableStatus::deleting;
}

Result<void> start(Context& context, const json::Value& request, json::Writer& out) {
  TRY(engine::Table table, read_new_table(context, *request.member("TableCreationParameters")));
  TRY(auto files, read_files(request, table));
  table.uuid = engine::random_uuid(*context.database.options().random);
  Job job = context.jobs.draft(context.scope, jobs::Kind::table_import);
  job.arn = table_arn(context.scope, table.name) + "/import/" + job.id;
  job.table_name = table.name;
  job.table_uuid = table.uuid;
  job.client_token = string_member(request, "ClientToken").value_or("");
  job.request = stored(request, context.scope.account);

  const auto decide = [&](const jobs::Jobs::Present& present) -> Result<bool> {
    const Job* const same = present.same_token;
    if (same != nullptr && same->table_name != table.name) {
      return error::import_conflict(
          "Import conflict: Duplicate request detected with conflicting parameters");
    }
    // A request that repeats a token and the table's name returns the earlier import, even if other members
    // differ. Once that import is over, its token has no effect while a table with this name exists.
    if (same != nullptr && (!same->over() || !is_taken(context, table.name))) return false;
    if (is_taken(context, table.name)) return error::resource_in_use("Table already exists: " + table.name);
    if (present.unfinished >= imports_max) {
      return error::limit_exceeded("Subscriber limit exceeded: There is a limit of " +
                                   std::to_string(imports_max) + " concurrent imports");
    }
    return true;
  };
  const json::Value& bucket = *request.member("S3BucketSource");
  imports::SourceOptions source_options{
      .bucket = std::string(*string_member(bucket, "S3Bucket")),
      .prefix = std::string(string_member(bucket, "S3KeyPrefix").value_or("")),
      .files = std::move(files)};
  auto work = std::make_unique<imports::Import>(context, table, std::move(source_options));
  TRY(const auto started, context.jobs.start(std::move(job), std::move(work), decide));
  write_answer(out, *started);
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  const std::string_view text = *string_member(request, "ImportArn");
  if (is_of_others(text, context.scope.account)) return error::access_denied("Access is denied");
  const auto arn = imports::parse_job_arn(text, "/import/");
  if (!arn) return error::validation("Invalid Import ARN");
  const auto job = context.jobs.find(context.scope, jobs::Kind::table_import, arn->id);
  if (job == nullptr || job->arn != text)
    return error::import_not_found("Import not found: Import not found: " + std::string(text));
  write_answer(out, *job);
  return {};
}

Result<void> list(Context& context, const json::Value& request, json::Writer& out) {
  auto jobs = context.jobs.list(context.scope, jobs::Kind::table_import);
  if (const auto text = string_member(request, "TableArn")) {
    const auto arn = parse_table_arn(*text);
    if (!arn) return error::validation("Invalid Request: Table ARN is invalid.");
    if (arn->account != context.scope.account) return error::access_denied("Access is denied");
    std::erase_if(jobs, [&](const auto& job) {
      return arn->region != context.scope.region || job->table_name != arn->name;
    });
  }
  const auto limit = static_cast<std::size_t>(integer_member(request, "PageSize").value_or(page_default));
  TRY(const imports::JobPage page,
      imports::page_of(std::move(jobs), limit, string_member(request, "NextToken")));
  out.begin_object();
  out.key("ImportSummaryList");
  out.begin_array();
  for (const auto& job : page.jobs) write_summary(out, *job);
  out.end_array();
  member_if_any(out, "NextToken", page.next_token);
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::import_table{dynamodb,          "ImportTable", Access::control,
                                                   TablesIn::nothing, &start_shape,  &start};
constinit const Operation operations::describe_import{dynamodb,          "DescribeImport", Access::control,
                                                      TablesIn::nothing, &describe_shape,  &describe};
constinit const Operation operations::list_imports{dynamodb,          "ListImports", Access::control,
                                                   TablesIn::nothing, &list_shape,   &list};

}  // namespace mayfly::compat
