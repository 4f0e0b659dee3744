// DYNAMODB_JSON: a line for each item, {"Item":{"id":{"S":"1"}}}.
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
  const bool keeps_json_;
  std::size_t looked_at_ = 0;  // of the text's rest, which has no end of a line there
};

}  // namespace mayfly::compat::data_files
