// What a data file has for each item: the item, or what is wrong with it.
//
//   {"itemS3Pointer":{"bucket":"b","key":"a.csv","itemIndex":0},"importArn":"arn:…","errorMessages":["…"]}
//
// is how AWS writes down what is wrong, in an import's log (developer guide, "Import format quotas and
// validation"): error_line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/attribute_value.h"
#include "engine/expected.h"

namespace mayfly::compat::data_files {

enum class Format : unsigned char { dynamodb_json, ion, csv };
enum class Compression : unsigned char { none, gzip, zstd };

// The text of one record. An item has 400 KB at most; as text each of its bytes may take ten: {"N":"1"}.
inline constexpr std::size_t record_bytes_max = 4 * 1024 * 1024;

struct BadRecord {
  std::string file;          // the object's key
  std::uint64_t index = 0;   // of the item in its file, from 0 on
  std::uint64_t line = 1;    // where it begins, from 1 on
  std::uint64_t offset = 0;  // the same, in bytes of the unpacked file, from 0 on
  std::string what;          // where DynamoDB has a rule for items: in its words
  // Nobody knows where the next record begins, or what this was meant to be: what follows in the file is not
  // read. As AWS was seen to do: of ten lines with one that is no JSON in the sixth place five are imported,
  // and six have been processed (aws-controllers-k8s/dynamodb-controller, DDB-IMPORT-013); an item without
  // its key is passed over alone.
  bool ends_file = false;
};

using Record = Expected<engine::Item, BadRecord>;

// A record that ends its file.
Record unreadable(std::string what);

std::string error_line(std::string_view bucket, std::string_view import_arn, const BadRecord& bad);

}  // namespace mayfly::compat::data_files
