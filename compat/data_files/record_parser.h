// The interface of the parsers of the three formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/data_files/record.h"

namespace mayfly::compat::data_files {

struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> header{};            // empty: the header is the first line
  std::map<std::string, engine::Type> types{};  // types of the keys that are not strings
};

// Unpacked text that has not been read yet, and its position in the file.
class Text {
 public:
  void append(std::string_view bytes) { bytes_ += bytes; }
  [[nodiscard]] std::string_view rest() const { return std::string_view(bytes_).substr(begin_); }
  // Requires: `count` is at most the rest's size.
  void pass(std::size_t count);
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
  std::uint64_t line_ = 1, offset_ = 0;
};

// Finds the records of one format.
class RecordParser {
 public:
  virtual ~RecordParser() = default;
  // Returns the next record and removes it from `text`; returns nullopt if `text` has no complete record.
  // `last`: no more text follows. For a bad record, next() sets the location, the problem, and whether the
  // rest of the file is skipped.
  virtual std::optional<Record> next(Text& text, bool last) = 0;
  // Returns the last good record as DYNAMODB_JSON, if records can have conditions.
  [[nodiscard]] const std::string& json() const { return json_; }

 protected:
  std::string json_;
};

}  // namespace mayfly::compat::data_files
