// Reads CSV: RFC 4180's rows, with any of DynamoDB's delimiters. reader.h describes how fields become
// attributes.
//
// A row with more or fewer fields than the header is a bad record, and reading continues with the next row.
// After a misplaced quote or an invalid header, the rest of the file is skipped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compat/data_files/record_parser.h"

namespace mayfly::compat::data_files {

class CsvReader final : public RecordParser {
 public:
  explicit CsvReader(CsvOptions options) : options_(std::move(options)), header_(options_.header) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  enum class At : unsigned char { field_start, plain, quoted, after_quote, after_quote_and_return };
  // The effect of one byte of a row.
  enum class Step : unsigned char { goes_on, row_ends, misplaced_quote };

  Step take(char c);
  void end_field();
  // Returns the record of the row that has ended; nullopt if the row was empty or the header.
  std::optional<Record> row();
  Record item() const;

  const CsvOptions options_;
  std::vector<std::string> header_;
  At at_ = At::field_start;
  std::vector<std::string> fields_;
  std::string field_;
  bool has_quotes_ = false;              // whether the row has any quotes
  std::size_t row_bytes_ = 0;            // bytes of the row so far
  std::uint64_t line_ = 1, offset_ = 0;  // where the row begins
};

}  // namespace mayfly::compat::data_files
