// Reads a data file's items, from the chunks that it comes in, however they are cut.
//
//   Reader reader({.file = "data/a.json.gz", .format = Format::dynamodb_json, .compression =
//   Compression::gzip}); for (bool last = false; !last;) {
//     …
//     reader.feed(chunk), or, when there is no more, reader.end();
//     while (auto record = reader.next()) …        // an item, or what is wrong with it
//     last = reader.is_over();
//   }
//
// It holds a chunk, a step's text (compression.h) and a record's, of record_bytes_max at most; what unpacks
// to more than ratio_max times its bytes, once it is long, is refused. The formats are those of the developer
// guide's "Amazon S3 import formats for DynamoDB"; what is an item is checked as a request's is, in
// DynamoDB's words. Whether it has the table's key is its writer's business.
//
//   DYNAMODB_JSON  {"Item":{"id":{"S":"1"}}}               a line for each; lines of spaces are none
//   ION            $ion_1_0 {Item:{id:"1"}}                one after the other, or as elements of a list
//   CSV            id,name                                 RFC 4180: quotes in quoted fields are doubled
//                  1,"a ""b"" c"
//
// Of CSV's fields, those of keys have the types that `types` says (binary is base64), all others are strings;
// empty ones are left out. The header is the first line, or `header`, and then the first line is an item.
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
  std::vector<std::string> header{};            // empty: the first line
  std::map<std::string, engine::Type> types{};  // of keys that are no strings: number or binary
};

struct ReaderOptions {
  std::string file;  // the object's key, for what is wrong in it
  Format format = Format::dynamodb_json;
  Compression compression = Compression::none;
  CsvOptions csv{};
  // Records may have a condition beside their item, as bulk puts' do, and are kept as JSON: Reader::json.
  bool with_conditions = false;
};

// What is unpacked and not read yet, and where that is in the file.
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

// One format's way to find records.
class RecordParser {
 public:
  virtual ~RecordParser() = default;
  // Of `text` it passes what it has read. Nothing: there is no whole record in it. `last`: nothing follows.
  // Of a bad record it sets where it is, what it is, and whether the file ends with it.
  virtual std::optional<Record> next(Text& text, bool last) = 0;
  // The last good record as DYNAMODB_JSON, where records may have conditions.
  [[nodiscard]] const std::string& json() const { return json_; }

  static std::unique_ptr<RecordParser> of(const ReaderOptions& options);

 protected:
  std::string json_;
};

class Reader {
 public:
  static constexpr std::uint64_t ratio_max = 1032;  // deflate's own
  static constexpr std::uint64_t ratio_free_bytes = std::uint64_t{64} << 20;

  explicit Reader(ReaderOptions options);
  // Requires: next() said nothing, and it is not over.
  void feed(std::string chunk);
  void end();
  // Nothing: it needs more, or it is over.
  std::optional<Record> next();
  // Nothing more comes: the file ended, or what is wrong ends it.
  [[nodiscard]] bool is_over() const { return over_; }
  // Where the last record is, for what its reader finds wrong with it. Line and offset are those of its end.
  [[nodiscard]] BadRecord place() const;
  // The last record, if it is good and ReaderOptions::with_conditions is set: {"Item":{…}} and, of these what
  // it has, "ConditionExpression":"…","ExpressionAttributeNames":{…},"ExpressionAttributeValues":{…}.
  [[nodiscard]] const std::string& json() const { return parser_->json(); }
  [[nodiscard]] std::uint64_t unpacked_bytes() const { return unpacked_bytes_; }

 private:
  // False: there is nothing to unpack.
  bool unpack();
  [[nodiscard]] Record ended_by(std::string what) const;

  const std::string file_;
  const std::unique_ptr<Unpacker> unpacker_;
  const std::unique_ptr<RecordParser> parser_;
  std::string chunk_;
  std::size_t chunk_read_ = 0;
  Text text_;
  bool fed_all_ = false, unpacked_all_ = false, over_ = false;
  std::string failure_;  // of unpacking, once what came before it is read; empty: none
  std::uint64_t packed_bytes_ = 0, unpacked_bytes_ = 0, records_ = 0;
};

}  // namespace mayfly::compat::data_files
