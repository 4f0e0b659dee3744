// CSV: RFC 4180's rows, with any of DynamoDB's delimiters; reader.h says what becomes of their fields.
//
// A row with more or fewer fields than the header is no item, and the next one may be. A quote where none may
// be, and a header that is none, end the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compat/data_files/reader.h"

namespace mayfly::compat::data_files {

class CsvReader final : public RecordParser {
 public:
  explicit CsvReader(CsvOptions options) : options_(std::move(options)), header_(options_.header) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  enum class At : unsigned char { field_start, plain, quoted, after_quote, after_quote_and_return };
  // What a byte of a row brings about.
  enum class Step : unsigned char { goes_on, row_ends, misplaced_quote };

  Step take(char c);
  void end_field();
  // The row that has ended; nothing: it was empty, or the header.
  std::optional<Record> row();
  Record item() const;

  const CsvOptions options_;
  std::vector<std::string> header_;
  At at_ = At::field_start;
  std::vector<std::string> fields_;
  std::string field_;
  bool has_quotes_ = false;              // the row
  std::size_t row_bytes_ = 0;            // so far
  std::uint64_t line_ = 1, offset_ = 0;  // where the row began
};

}  // namespace mayfly::compat::data_files
