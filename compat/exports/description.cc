#include "compat/exports/description.h"

#include "compat/exports/export_request.h"
#include "compat/exports/export_work.h"
#include "compat/json/json_members.h"
#include "compat/tables/arn.h"

namespace mayfly::compat::exports {
namespace {

constexpr std::string_view below_table = "/export/";

}  // namespace

std::string export_arn(std::string_view table_arn, std::string_view id) {
  return std::string(table_arn) + std::string(below_table) + std::string(id);
}

std::optional<ExportArn> parse_export_arn(std::string_view arn) {
  const auto place = arn.find(below_table);
  if (place == std::string_view::npos) return std::nullopt;
  const auto table = parse_table_arn(arn.substr(0, place));
  const auto id = arn.substr(place + below_table.size());
  if (!table || id.empty() || id.find('/') != std::string_view::npos) return std::nullopt;
  return ExportArn{table->region, id};
}

void write_description(json::Writer& out, const jobs::Job& job) {
  const ExportRequest asked = ExportRequest::parse(job.request);
  out.begin_object();
  member(out, "ExportArn", job.arn);
  member(out, "ExportStatus", jobs::name_of(job.status()));
  seconds(out, "StartTime", job.started);
  if (job.ended) seconds(out, "EndTime", *job.ended);
  if (job.status() == jobs::Status::completed) {
    member(out, "ExportManifest",
           data_files::export_keys(asked.prefix, job.id, data_files::ExportType::full).summary);
  }
  member(out, "TableArn", asked.table_arn);
  member_if_any(out, "TableId", job.table_uuid);
  if (!asked.incremental()) seconds(out, "ExportTime", asked.until);
  member_if_any(out, "ClientToken", job.client_token);
  member(out, "S3Bucket", asked.bucket);
  member_if_any(out, "S3BucketOwner", asked.bucket_owner);
  member_if_any(out, "S3Prefix", asked.prefix);
  member(out, "S3SseAlgorithm", asked.sse_algorithm.empty() ? "AES256" : asked.sse_algorithm);
  member_if_any(out, "S3SseKmsKeyId", asked.sse_key_id);
  member_if_any(out, "FailureCode", job.ending.failure_code);
  member_if_any(out, "FailureMessage", job.ending.failure_message);
  member(out, "ExportFormat", asked.format_or_default() == data_files::Format::ion ? "ION" : "DYNAMODB_JSON");
  if (job.status() == jobs::Status::completed)
    for (const std::string_view name : {billed_bytes, item_count}) member(out, name, job.count(name));
  if (asked.type) member(out, "ExportType", asked.incremental() ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
  if (asked.incremental()) {
    out.key("IncrementalExportSpecification");
    out.begin_object();
    seconds(out, "ExportFromTime", asked.from.value_or(0));
    seconds(out, "ExportToTime", asked.until);
    member(out, "ExportViewType", asked.old_images_or_default() ? "NEW_AND_OLD_IMAGES" : "NEW_IMAGE");
    out.end_object();
  }
  if (!asked.filter.empty()) {
    out.key("FilterSpecification");
    out.raw(asked.filter);
  }
  member(out, "DestinationType", "S3");
  out.end_object();
}

}  // namespace mayfly::compat::exports
