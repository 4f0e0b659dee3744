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
// DynamoDB". Items are checked like a request's items, with DynamoDB's wording. The reader does not check the
// table's key; the code that writes the item does.
//
//   DYNAMODB_JSON  {"Item":{"id":{"S":"1"}}}     one line for each item; blank lines are skipped
//   ION            $ion_1_0 {Item:{id:"1"}}      one after another, or as elements of a list
//   CSV            id,name                       RFC 4180: quotes in quoted fields are doubled
//                  1,"a ""b"" c"
//
// CSV fields of keys have the types in `types` (binary is base64); all others are strings. Empty fields are
// omitted. The header is the first line, unless `header` is set; the first line is then an item.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/data_files/compression.h"
#include "compat/data_files/record.h"

namespace mayfly::compat::data_files {

struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> header{};            // empty: the header is the first line
  std::map<std::string, engine::Type> types{};  // of keys that are numbers or binary
};

struct ReaderOptions {
  std::string file;  // the object's key, for reports of bad records
  Format format = Format::dynamodb_json;
  Compression compression = Compression::none;
  CsvOptions csv{};
  // Whether records can have a condition in addition to their item, as in bulk puts. If so, Reader::json
  // keeps them as JSON.
  bool with_conditions = false;
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
  // `last`: no more text follows. For a bad record, it sets the location, the problem, and whether the file
  // ends there.
  virtual std::optional<Record> next(Text& text, bool last) = 0;
  // Returns the last good record as DYNAMODB_JSON, if records can have conditions.
  [[nodiscard]] const std::string& json() const { return json_; }

  static std::unique_ptr<RecordParser> of(const ReaderOptions& options);

 protected:
  std::string json_;
};

class Reader {
 public:
  static constexpr std::uint64_t ratio_max = 1032;  // the maximum of deflate
  static constexpr std::uint64_t ratio_free_bytes = std::uint64_t{64} << 20;

  explicit Reader(ReaderOptions options);
  // Requires: next() has returned nullopt, and is_over() is false.
  void feed(std::string chunk);
  void end();
  // Returns nullopt if it needs more input, or is_over().
  std::optional<Record> next();
  // Whether no more records follow: the file has ended, or an error ended it.
  [[nodiscard]] bool is_over() const { return over_; }
  // Returns the location of the last record, so that the caller can report problems with it. Line and offset
  // are those of the record's end.
  [[nodiscard]] BadRecord place() const;
  // Returns the last record, if it is good and ReaderOptions::with_conditions is set: {"Item":{…}} and those
  // of the members "ConditionExpression":"…", "ExpressionAttributeNames":{…} and
  // "ExpressionAttributeValues":{…} that it has.
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
  std::string failure_;  // of unpacking; reported after the text before it is read; empty: no failure
  std::uint64_t packed_bytes_ = 0, unpacked_bytes_ = 0, records_ = 0;
};

}  // namespace mayfly::compat::data_files
