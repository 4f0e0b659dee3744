#include "compat/data_files/manifest.h"

#include "compat/json/json.h"
#include "compat/wire/base64.h"
#include "compat/wire/md5.h"

namespace mayfly::compat::data_files {

ExportKeys export_keys(std::string_view prefix, std::string_view id, ExportType type) {
  std::string base(prefix);
  if (!base.empty() && !base.ends_with('/')) base += '/';
  base += "AWSDynamoDB/";
  const std::string own = base + std::string(id) + "/";
  return {.started = own + "_started",
          .summary = own + "manifest-summary.json",
          .summary_checksum = own + "manifest-summary.md5",
          .files = own + "manifest-files.json",
          .files_checksum = own + "manifest-files.md5",
          .data = (type == ExportType::full ? own : base) + "data/"};
}

std::string data_file_name(engine::Random& random, Format format) {
  constexpr std::string_view base32 = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr int digits = 26, digit_bits = 5, digits_of_number = 12;
  std::string name;
  for (std::uint64_t bits = 0; name.size() < digits; bits >>= digit_bits) {
    if (name.size() % digits_of_number == 0) bits = random.next();
    name += base32[bits % base32.size()];
  }
  return name + (format == Format::ion ? ".ion.gz" : ".json.gz");
}

std::string summary_manifest(const ExportSummary& summary) {
  const bool full = summary.type == ExportType::full;
  std::string text;
  json::Writer out(text);
  const auto string = [&](std::string_view name, std::string_view value) {
    out.key(name);
    out.string(value);
  };
  const auto time = [&](std::string_view name, engine::Instant instant) {
    string(name, engine::iso8601(instant));
  };
  const auto string_or_null = [&](std::string_view name, std::string_view value) {
    out.key(name);
    if (value.empty()) return out.raw("null");
    out.string(value);
  };
  const auto count = [&](std::string_view name, std::int64_t value) {
    out.key(name);
    out.integer(value);
  };
  out.begin_object();
  string("version", full ? "2020-06-30" : "2023-08-01");
  string("exportArn", summary.export_arn);
  time("startTime", summary.start);
  time("endTime", summary.end);
  string("tableArn", summary.table_arn);
  string("tableId", summary.table_id);
  if (full) {
    time("exportTime", summary.time);
  } else {
    time("exportFromTime", summary.from);
    time("exportToTime", summary.to);
  }
  string("s3Bucket", summary.bucket);
  string_or_null("s3Prefix", summary.prefix);
  string("s3SseAlgorithm", summary.sse_algorithm);
  string_or_null("s3SseKmsKeyId", summary.sse_key_id);
  string("manifestFilesS3Key", summary.files_key);
  count("billedSizeBytes", summary.billed_bytes);
  count("itemCount", summary.items);
  string("outputFormat", summary.format == Format::ion ? "ION" : "DYNAMODB_JSON");
  if (!full) {
    string("outputView", summary.old_images ? "NEW_AND_OLD_IMAGES" : "NEW_IMAGE");
    string("exportType", "INCREMENTAL_EXPORT");
  }
  out.end_object();
  return text;
}

void append_data_file(std::string& out, const DataFile& file) {
  std::string md5;
  append_base64(md5, file.md5);
  json::Writer writer(out);
  writer.begin_object();
  writer.key("itemCount");
  writer.integer(file.items);
  writer.key("md5Checksum");
  writer.string(md5);
  writer.key("etag");
  writer.string(file.etag);
  writer.key("dataFileS3Key");
  writer.string(file.key);
  writer.end_object();
  out += '\n';
}

std::string checksum_of(std::string_view manifest) {
  Md5 sum;
  sum.add(manifest);
  std::string text;
  append_base64(text, sum.end());
  return text;
}

}  // namespace mayfly::compat::data_files
