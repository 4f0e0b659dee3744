// Writes the manifest files of an export, which describe its data files, and chooses the names of all files
// of the export.
//
//   const ExportKeys keys = export_keys("2024-May", "01693467621041-039fcf72", ExportType::full);
//   keys.summary == "2024-May/AWSDynamoDB/01693467621041-039fcf72/manifest-summary.json"
//   keys.data    == "2024-May/AWSDynamoDB/01693467621041-039fcf72/data/"
//                   // incremental: "2024-May/AWSDynamoDB/data/"
//   data_file_name(random, Format::dynamodb_json) == "jhg6wb6v7u6dxdgwnn4c55ciq4.json.gz"
//
// The members and their order follow the developer guide's "DynamoDB table export output format". Two details
// follow recordings of AWS: each file is a single line of text, and checksum files are named .md5 (the guide
// says .checksum). In addition, an export first writes an empty object, `started`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compat/data_files/record.h"
#include "engine/base/clock.h"
#include "engine/base/random.h"

namespace mayfly::compat::data_files {

enum class ExportType : unsigned char { full, incremental };

struct ExportKeys {
  std::string started, summary, summary_checksum, files, files_checksum;
  std::string data;  // the prefix of data files' names
};
// `prefix` is S3Prefix, empty if there is none. `id` is the last part of the export's ARN.
ExportKeys export_keys(std::string_view prefix, std::string_view id, ExportType type);
std::string data_file_name(engine::Random& random, Format format);

struct ExportSummary {
  ExportType type = ExportType::full;
  std::string export_arn, table_arn, table_id;
  engine::Instant start = 0, end = 0;
  engine::Instant time = 0;          // for a full export
  engine::Instant from = 0, to = 0;  // for an incremental export
  std::string bucket, prefix;        // an empty prefix: no prefix
  std::string sse_algorithm = "AES256";
  std::string sse_key_id{};  // empty: no key
  std::string files_key;     // ExportKeys' `files`
  std::int64_t billed_bytes = 0, items = 0;
  Format format = Format::dynamodb_json;
  bool old_images = true;  // for an incremental export
};
std::string summary_manifest(const ExportSummary& summary);

struct DataFile {
  std::int64_t items = 0;
  std::string md5;   // 16 bytes, of the stored object
  std::string etag;  // as the bucket returned it
  std::string key;
};
// Appends a line of the files' manifest, with its newline.
void append_data_file(std::string& out, const DataFile& file);

// Returns the contents of a manifest's checksum file.
std::string checksum_of(std::string_view manifest);

}  // namespace mayfly::compat::data_files
