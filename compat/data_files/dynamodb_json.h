// DYNAMODB_JSON: a line for each item, {"Item":{"id":{"S":"1"}}}. A line may have several, one behind the
// other, which AWS reads too (moto's tests that were verified there import such a file).
//
//   read_dynamodb_json(R"({"Item":{"id":{"S":"1"}}})")      the item, or what is wrong with it
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "compat/data_files/reader.h"

namespace mayfly::compat::data_files {

// Of a bad one where it is remains to be said.
Record read_dynamodb_json(std::string_view text);

class JsonLinesReader final : public RecordParser {
 public:
  explicit JsonLinesReader(bool keeps_json = false) : keeps_json_(keeps_json) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  // Where the record ends that the rest begins with: at the end of its line, or where another one begins.
  // Nothing: that is not there yet.
  std::optional<std::size_t> find_end(std::string_view rest, bool last);
  void look(char c);

  const bool keeps_json_;
  std::size_t looked_at_ = 0;  // of the text's rest, in which no record ends before
  std::size_t depth_ = 0;      // of braces there
  bool in_string_ = false, escaped_ = false;
  bool is_object_ = true;                  // so far; what is none ends with its line
  std::optional<std::size_t> object_end_;  // and there it has ended
};

}  // namespace mayfly::compat::data_files
