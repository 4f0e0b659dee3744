// The files of an export that say what the others are, and where all of them are.
//
//   const ExportKeys keys = export_keys("2024-May", "01693467621041-039fcf72", ExportType::full);
//   keys.summary == "2024-May/AWSDynamoDB/01693467621041-039fcf72/manifest-summary.json"
//   keys.data    == "2024-May/AWSDynamoDB/01693467621041-039fcf72/data/"   incremental:
//   "2024-May/AWSDynamoDB/data/" data_file_name(random, Format::dynamodb_json) ==
//   "jhg6wb6v7u6dxdgwnn4c55ciq4.json.gz"
//
// The members and their order are those of the developer guide's "DynamoDB table export output format", each
// file's text on one line and the checksums' names (.md5, which the guide calls .checksum) as AWS was
// recorded to write them. Besides them an export writes an empty object first, `started`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compat/data_files/record.h"
#include "engine/clock.h"
#include "engine/random.h"

namespace mayfly::compat::data_files {

enum class ExportType : unsigned char { full, incremental };

struct ExportKeys {
  std::string started, summary, summary_checksum, files, files_checksum;
  std::string data;  // before a data file's name
};
// `prefix`: S3Prefix, empty if there is none. `id`: the last part of the export's ARN.
ExportKeys export_keys(std::string_view prefix, std::string_view id, ExportType type);
std::string data_file_name(engine::Random& random, Format format);

struct ExportSummary {
  ExportType type = ExportType::full;
  std::string export_arn, table_arn, table_id;
  engine::Instant start = 0, end = 0;
  engine::Instant time = 0;          // of a full export
  engine::Instant from = 0, to = 0;  // of an incremental one
  std::string bucket, prefix;        // empty: no prefix
  std::string sse_algorithm = "AES256";
  std::string sse_key_id{};  // empty: none
  std::string files_key;     // ExportKeys' `files`
  std::int64_t billed_bytes = 0, items = 0;
  Format format = Format::dynamodb_json;
  bool old_images = true;  // of an incremental one
};
std::string summary_manifest(const ExportSummary& summary);

struct DataFile {
  std::int64_t items = 0;
  std::string md5;   // 16 bytes, of the object as it is stored
  std::string etag;  // as the bucket answered it
  std::string key;
};
// A line of the files' manifest, with its end.
void append_data_file(std::string& out, const DataFile& file);

// What stands in a manifest's checksum file.
std::string checksum_of(std::string_view manifest);

}  // namespace mayfly::compat::data_files
