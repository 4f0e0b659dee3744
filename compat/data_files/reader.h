// Reads a data file's items from chunks of any size.
//
//   Reader reader({.file = "data/a.json.gz", .format = Format::dynamodb_json,
//                  .compression = Compression::gzip});
//   for (bool last = false; !last;) {
//     …
//     reader.feed(chunk);                           // or, after the last chunk, reader.end();
//     while (auto record = reader.next()) …        // an item, or what is wrong with it
//     last = reader.is_over();
//   }
//
// The reader holds one chunk, one step's text (compression.h), and one record's text of at most
// record_bytes_max. A file that unpacks to more than ratio_max times its size is rejected once the text
// exceeds ratio_free_bytes. The formats are those of the developer guide's "Amazon S3 import formats for
// DynamoDB". Items are checked like a request's items, with DynamoDB's wording. The table's key is checked by
// the code that writes the item, not by the reader.
//
//   DYNAMODB_JSON  {"Item":{"id":{"S":"1"}}}     one line for each item; blank lines are skipped
//   ION            $ion_1_0 {Item:{id:"1"}}      one after another, or as elements of a list
//   CSV            id,name                       RFC 4180: quotes in quoted fields are doubled
//                  1,"a ""b"" c"
//
// CSV fields of keys have the types in `types` (binary is base64); all others are strings. Empty fields are
// omitted. The header is the first line, unless `header` is set, in which case the first line is an item.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/data_files/compression.h"
#include "compat/data_files/record.h"
#include "compat/data_files/record_parser.h"

namespace mayfly::compat::data_files {

struct ReaderOptions {
  std::string file;  // the object's key, for reports of bad records
  Format format = Format::dynamodb_json;
  Compression compression = Compression::none;
  CsvOptions csv{};
  // Whether records can have a condition in addition to their item, as in bulk puts. If so, Reader::json
  // returns the last record as JSON.
  bool with_conditions = false;
};

class Reader {
 public:
  static constexpr std::uint64_t ratio_max = 1032;  // the maximum compression ratio of deflate
  static constexpr std::uint64_t ratio_free_bytes = std::uint64_t{64} << 20;

  explicit Reader(ReaderOptions options);
  // Requires: next() has returned nullopt, and is_over() is false.
  void feed(std::string chunk);
  void end();
  // Returns nullopt if the reader needs more input or is_over().
  std::optional<Record> next();
  // Whether no more records follow, because the file has ended or an error ended the reading.
  [[nodiscard]] bool is_over() const { return over_; }
  // Returns the location of the last record, so that the caller can report problems with it. Line and offset
  // are those of the record's end.
  [[nodiscard]] BadRecord place() const;
  // Returns the last record, if it is good and ReaderOptions::with_conditions is set: {"Item":{…}} and, if
  // the record has them, the members "ConditionExpression":"…", "ExpressionAttributeNames":{…} and
  // "ExpressionAttributeValues":{…}.
  [[nodiscard]] const std::string& json() const { return parser_->json(); }
  [[nodiscard]] std::uint64_t unpacked_bytes() const { return unpacked_bytes_; }

 private:
  // Returns false if there is nothing to unpack.
  bool unpack();
  [[nodiscard]] Record ended_by(std::string what) const;

  const std::string file_;
  const std::unique_ptr<Unpacker> unpacker_;
  const std::unique_ptr<RecordParser> parser_;
  std::string chunk_;
  std::size_t chunk_read_ = 0;
  Text text_;
  bool fed_all_ = false, unpacked_all_ = false, over_ = false;
  std::string failure_;  // why unpacking failed, reported after the text before it; empty: no failure
  std::uint64_t packed_bytes_ = 0, unpacked_bytes_ = 0, records_ = 0;
};

}  // namespace mayfly::compat::data_files
