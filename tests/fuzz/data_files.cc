// Data files of any bytes: however they are cut, the same is read; and an item that is read is written, and
// read again as it was, in either format.
//
//   a byte that says the format, the compression and CSV's delimiter; a byte, the chunks' size; the file
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

// Of a Zstandard file that is damaged one way of cutting may show more than the other (compression.h).
bool is_damaged_zstd(const ReaderOptions& options, const std::vector<Record>& records) {
  return options.compression == Compression::zstd && !records.empty() && !records.back() &&
         records.back().error().what.starts_with("The file is not in a supported ZSTD");
}

void must_be_the_same(const ReaderOptions& options, const std::vector<Record>& a,
                      const std::vector<Record>& b) {
  const bool damaged = is_damaged_zstd(options, a) || is_damaged_zstd(options, b);
  must(damaged || a.size() == b.size(), "as many records, however a file is cut");
  const std::size_t last = damaged ? 1 : 0;
  for (std::size_t i = 0; i + last < std::min(a.size(), b.size()); ++i)
    must(is_same(a[i], b[i]), "the same record, however a file is cut");
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
      must(records[i].error().index == i, "records are counted");
      must(!records[i].error().ends_file || i + 1 == records.size(), "nothing follows what ends a file");
      continue;
    }
    for (const Format format : {Format::dynamodb_json, Format::ion}) {
      std::string text;
      append_item(text, format, *records[i]);
      const auto again = read_file({.format = format}, text, chunk_bytes);
      must(again.size() == 1 && again[0] && *again[0] == *records[i], "what was written is read as it was",
           text);
    }
  }
}

}  // namespace mayfly::testing
