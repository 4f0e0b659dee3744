// Writes items as exports do, one line for each, in the formats of the developer guide's "DynamoDB table
// export output format".
//
//   append_item(out, Format::dynamodb_json, item);    {"Item":{"Id":{"N":"103"},"Title":{"S":"Book"}}}
//   append_item(out, Format::ion, item);              $ion_1_0 {Item:{Id:103.,Title:"Book"}}
//   append_change(out, Format::dynamodb_json, change);
//       {"Metadata":{"WriteTimestampMicros":{"N":"1684374845117899"}},"Keys":{…},"NewImage":{…},"OldImage":{…}}
//
// Items in Ion have the form that Amazon's Ion library for Java writes, as the guide shows: numbers are
// decimals of their significant digits (600 is 6d2, 103 is 103.), and names have no quotes where possible. No
// example of an incremental export in Ion was found, so the members are those of an incremental export in
// JSON.
#pragma once

#include <cstdint>
#include <string>

#include "compat/data_files/record.h"

namespace mayfly::compat::data_files {

// Requires, like append_change: the format is not CSV, which exports do not support.
void append_item(std::string& out, Format format, const engine::Item& item);

struct Change {
  std::int64_t write_micros = 0;  // since 1970-01-01
  const engine::Item& keys;
  const engine::Item* new_image = nullptr;  // nullptr: the item was deleted
  const engine::Item* old_image = nullptr;  // nullptr: the item is new, or old images are not exported
};
void append_change(std::string& out, Format format, const Change& change);

}  // namespace mayfly::compat::data_files
