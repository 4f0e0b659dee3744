// A data file's record: an item, or what is wrong with it.
//
//   {"itemS3Pointer":{"bucket":"b","key":"a.csv","itemIndex":0},"importArn":"arn:…","errorMessages":["…"]}
//
// error_line writes an error like this, as AWS does in an import's log (developer guide, "Import format
// quotas and validation").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::data_files {

enum class Format : unsigned char { dynamodb_json, ion, csv };
enum class Compression : unsigned char { none, gzip, zstd };

// The maximum size of a record's text. An item is at most 400 KB, and each of its bytes can take ten bytes
// of text: {"N":"1"}.
inline constexpr std::size_t record_bytes_max = 4 * 1024 * 1024;

struct BadRecord {
  std::string file;          // the object's key
  std::uint64_t index = 0;   // the item's index in its file, from 0
  std::uint64_t line = 1;    // where the record begins, from 1
  std::uint64_t offset = 0;  // where the record begins, in bytes of the unpacked file, from 0
  std::string what;          // in DynamoDB's wording where DynamoDB has a rule for items
  // Whether the rest of the file is skipped, because it is unknown where the next record begins or what this
  // record was meant to be. AWS was observed to do the same: from ten lines with invalid JSON in the sixth,
  // AWS imports five items and reports six as processed (aws-controllers-k8s/dynamodb-controller,
  // DDB-IMPORT-013). If an item lacks its key, only that item is skipped.
  bool ends_file = false;
};

using Record = Expected<engine::Item, BadRecord>;

// Returns a bad record that ends its file.
Record unreadable(std::string what);

std::string error_line(std::string_view bucket, std::string_view import_arn, const BadRecord& bad);

}  // namespace mayfly::compat::data_files
