// Reads data files with any bytes. The records do not depend on how the file is split into chunks, and an
// item that was read is unchanged after it is written and read again in either format.
//
//   Input: a byte for the format, the compression and CSV's delimiter; a byte for the chunk size; the file
#include <algorithm>
#include <string>
#include <vector>

#include "compat/data_files/reader.h"
#include "compat/data_files/writer.h"
#include "tests/compat/data_files/read_file.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

using namespace compat::data_files;

bool is_same(const Record& a, const Record& b) {
  if (a.has_value() != b.has_value()) return false;
  if (a) return *a == *b;
  return a.error().index == b.error().index && a.error().line == b.error().line &&
         a.error().offset == b.error().offset && a.error().what == b.error().what &&
         a.error().ends_file == b.error().ends_file;
}

// Reading a damaged Zstandard file in different chunks can recover different amounts of data (compression.h).
bool is_damaged_zstd(const ReaderOptions& options, const std::vector<Record>& records) {
  return options.compression == Compression::zstd && !records.empty() && !records.back() &&
         records.back().error().what.starts_with("The file is not in a supported ZSTD");
}

void must_be_the_same(const ReaderOptions& options, const std::vector<Record>& a,
                      const std::vector<Record>& b) {
  const bool damaged = is_damaged_zstd(options, a) || is_damaged_zstd(options, b);
  must(damaged || a.size() == b.size(), "the number of records does not depend on the chunks");
  const std::size_t last = damaged ? 1 : 0;
  for (std::size_t i = 0; i + last < std::min(a.size(), b.size()); ++i)
    must(is_same(a[i], b[i]), "records do not depend on the chunks");
}

}  // namespace

void fuzz_data_files(std::string_view input) {
  constexpr std::string_view delimiters = ",\t:;| ";
  const unsigned kind = take_byte(input);
  const std::size_t chunk_bytes = take_byte(input) + std::size_t{1};
  ReaderOptions options{.format = static_cast<Format>(kind % 3),
                        .compression = static_cast<Compression>(kind / 3 % 3)};
  options.csv.delimiter = delimiters[kind / 9 % delimiters.size()];
  options.csv.types = {{"n", engine::Type::number}, {"b", engine::Type::binary}};

  const auto records = read_file(options, input, input.size() + 1);
  must_be_the_same(options, records, read_file(options, input, chunk_bytes));
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i]) {
      must(records[i].error().index == i, "an error has its record's index");
      must(!records[i].error().ends_file || i + 1 == records.size(), "no record follows a fatal error");
      continue;
    }
    for (const Format format : {Format::dynamodb_json, Format::ion}) {
      std::string text;
      append_item(text, format, *records[i]);
      const auto again = read_file({.format = format}, text, chunk_bytes);
      must(again.size() == 1 && again[0] && *again[0] == *records[i], "a written item is read unchanged",
           text);
    }
  }
}

}  // namespace mayfly::testing
