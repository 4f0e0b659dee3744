// Reads all records of a data file, in chunks of a given size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/data_files/reader.h"
#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::testing {

inline std::vector<compat::data_files::Record> read_file(compat::data_files::ReaderOptions options,
                                                         std::string_view bytes,
                                                         std::size_t chunk_bytes = 1'000'000) {
  compat::data_files::Reader reader(std::move(options));
  std::vector<compat::data_files::Record> records;
  while (!reader.is_over()) {
    if (bytes.empty()) {
      reader.end();
    } else {
      reader.feed(std::string(bytes.substr(0, chunk_bytes)));
      bytes.remove_prefix(std::min(chunk_bytes, bytes.size()));
    }
    while (auto record = reader.next()) records.push_back(*std::move(record));
  }
  return records;
}

// Returns the records as text, one per line. An item is printed as JSON and a bad record as "!line 2, offset
// 17: …". The line begins with "!!" if no record after the bad record can be read.
inline std::string shown(const std::vector<compat::data_files::Record>& records) {
  std::string out;
  for (const auto& record : records) {
    if (record) {
      json::Writer writer(out);
      compat::write_item_object(writer, *record);
    } else {
      const auto& bad = record.error();
      out += std::string(bad.ends_file ? "!!" : "!") + "line " + std::to_string(bad.line) + ", offset " +
             std::to_string(bad.offset) + ": " + bad.what;
    }
    out += '\n';
  }
  return out;
}

}  // namespace mayfly::testing
