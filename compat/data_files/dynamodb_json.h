// Reads DYNAMODB_JSON: one line for each item, {"Item":{"id":{"S":"1"}}}. A line can have several items one
// after another, which AWS also accepts (moto's tests that were verified on AWS import such a file).
//
//   read_dynamodb_json(R"({"Item":{"id":{"S":"1"}}})")      the item, or what is wrong with it
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "compat/data_files/record_parser.h"

namespace mayfly::compat::data_files {

// The caller sets the location of a bad record.
Record read_dynamodb_json(std::string_view text);

class JsonLinesReader final : public RecordParser {
 public:
  explicit JsonLinesReader(bool keeps_json = false) : keeps_json_(keeps_json) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  // Returns where the record at the front of `rest` ends: at the end of its line, or where another record
  // begins. Returns nullopt if `rest` does not contain the record's end yet.
  std::optional<std::size_t> find_end(std::string_view rest, bool last);
  void look(char c);

  const bool keeps_json_;
  std::size_t looked_at_ = 0;  // no record ends in this many bytes at the front of the rest
  std::size_t depth_ = 0;      // nesting of braces after these bytes
  bool in_string_ = false, escaped_ = false;
  bool is_object_ = true;  // so far, the record may be an object; any other record ends with its line
  std::optional<std::size_t> object_end_;  // where the object ended; nullopt if it has not ended yet
};

}  // namespace mayfly::compat::data_files
