#include "compat/imports/bulk_report.h"

#include <utility>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::imports {
namespace {

void begin_line(json::Writer& out, const ReportOptions& options, const jobs::Job& job,
                const data_files::BadRecord& where) {
  out.begin_object();
  out.key("itemS3Pointer");
  out.begin_object();
  out.key("bucket");
  out.string(options.input_bucket);
  out.key("key");
  out.string(where.file);
  out.key("itemIndex");
  out.integer(static_cast<std::int64_t>(where.index));
  out.end_object();
  out.key("bulkOperationArn");
  out.string(job.arn);
}

}  // namespace

std::string BulkReport::key_of(const jobs::Job& job, std::string_view name) const {
  std::string prefix = options_.prefix;
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return prefix + "AWSDynamoDB/" + job.id + "/" + std::string(name);
}

void BulkReport::add(const jobs::Job& job, File& file, std::string_view line) {
  if (file.writer == nullptr) {
    file.key = key_of(job, file.name);
    file.writer = std::make_unique<jobs::ObjectWriter>(*bucket_, file.key);
  }
  file.writer->add(line);
  ++file.lines;
}

void BulkReport::add_error(const jobs::Job& job, const data_files::BadRecord& bad) {
  if (!options_.errors) return;
  std::string line;
  json::Writer out(line);
  begin_line(out, options_, job, bad);
  out.key("errorMessages");
  out.begin_array();
  out.string(bad.what);
  out.end_array();
  out.end_object();
  add(job, errors_, line + '\n');
}

void BulkReport::add_condition_failure(const jobs::Job& job, const data_files::BadRecord& where,
                                       const engine::Item& attempted, std::string_view existing) {
  if (!options_.condition_failures) return;
  std::string line;
  json::Writer out(line);
  begin_line(out, options_, job, where);
  out.key("attemptedItem");
  write_item_object(out, attempted);
  if (!existing.empty()) {
    out.key("existingItem");
    out.raw(existing);
  }
  out.end_object();
  add(job, condition_failures_, line + '\n');
}

buckets::Outcome<bool> BulkReport::advance(const jobs::Run& run) {
  bool idle = true;
  for (File* const file : {&errors_, &condition_failures_}) {
    if (file->writer == nullptr) continue;
    TRY(const bool is_idle, file->writer->advance(run));
    idle = idle && is_idle;
  }
  return idle;
}

buckets::Outcome<bool> BulkReport::finish(const jobs::Run& run) {
  for (File* const file : {&errors_, &condition_failures_}) {
    if (file->writer == nullptr) continue;
    file->writer->end();
    TRY(const bool idle, file->writer->advance(run));
    if (!idle) return false;
  }
  if (manifest_ == nullptr) {
    manifest_ = std::make_unique<jobs::ObjectWriter>(*bucket_, key_of(run.job, "manifest.json"));
    manifest_->add(manifest(run));
    manifest_->end();
  }
  return manifest_->advance(run);
}

std::string BulkReport::manifest(const jobs::Run& run) const {
  std::string text;
  json::Writer out(text);
  const auto count = [&](std::string_view name, std::string_view counted) {
    const auto found = run.progress.counts.find(counted);
    out.key(name);
    out.integer(found == run.progress.counts.end() ? 0 : found->second);
  };
  out.begin_object();
  out.key("bulkOperationArn");
  out.string(run.job.arn);
  count("processedItemCount", "ProcessedItemCount");
  count("failedItemCount", "FailedItemCount");
  count("conditionCheckFailureCount", "ConditionCheckFailureCount");
  out.key("files");
  out.begin_array();
  for (const File* const file : {&errors_, &condition_failures_}) {
    if (file->writer == nullptr) continue;
    out.begin_object();
    out.key("outputType");
    out.string(file->type);
    out.key("key");
    out.string(file->key);
    out.key("itemCount");
    out.integer(static_cast<std::int64_t>(file->lines));
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return text;
}

}  // namespace mayfly::compat::imports
