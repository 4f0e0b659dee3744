#include "compat/data_files/reader.h"

#include <algorithm>
#include <utility>

#include "compat/data_files/csv.h"
#include "compat/data_files/dynamodb_json.h"
#include "compat/data_files/ion_reader.h"

namespace mayfly::compat::data_files {

namespace {

std::unique_ptr<RecordParser> parser_of(const ReaderOptions& options) {
  switch (options.format) {
    case Format::dynamodb_json: break;
    case Format::ion: return std::make_unique<IonReader>(options.with_conditions);
    case Format::csv: return std::make_unique<CsvReader>(options.csv);
  }
  return std::make_unique<JsonLinesReader>(options.with_conditions);
}

}  // namespace

Reader::Reader(ReaderOptions options)
    : file_(options.file), unpacker_(Unpacker::of(options.compression)), parser_(parser_of(options)) {}

void Reader::feed(std::string chunk) {
  packed_bytes_ += chunk.size();
  chunk_ = std::move(chunk);
  chunk_read_ = 0;
}

void Reader::end() { fed_all_ = true; }

bool Reader::unpack() {
  const auto keep = [&](const Expected<void, std::string>& outcome) {
    if (!outcome) failure_ = outcome.error();
  };
  std::string_view input = std::string_view(chunk_).substr(chunk_read_);
  if (input.empty() && !unpacker_->holds_more()) {
    if (!fed_all_) return false;
    keep(unpacker_->end());
    unpacked_all_ = failure_.empty();
    return true;
  }
  std::string unpacked;
  keep(unpacker_->step(input, unpacked));
  chunk_read_ = chunk_.size() - input.size();
  unpacked_bytes_ += unpacked.size();
  text_.append(unpacked);
  if (unpacked_bytes_ > ratio_free_bytes && unpacked_bytes_ / ratio_max > packed_bytes_)
    failure_ = "The file decompresses to more than a thousand times its size";
  return true;
}

BadRecord Reader::place() const {
  return {.file = file_, .index = records_ - 1, .line = text_.line(), .offset = text_.offset()};
}

Record Reader::ended_by(std::string what) const {
  return Unexpected{
      BadRecord{.line = text_.line(), .offset = text_.offset(), .what = std::move(what), .ends_file = true}};
}

std::optional<Record> Reader::next() {
  std::optional<Record> record;
  while (!over_ && !record) {
    record = parser_->next(text_, unpacked_all_);
    if (record) break;
    if (unpacked_all_) {
      over_ = true;
      break;
    }
    if (!failure_.empty()) {
      record = ended_by(failure_);
    } else if (!unpack()) {
      return std::nullopt;
    }
  }
  if (!record) return std::nullopt;
  if (!*record) {
    BadRecord& bad = record->error();
    bad.file = file_;
    bad.index = records_;
    over_ = bad.ends_file;
  }
  ++records_;
  return record;
}

}  // namespace mayfly::compat::data_files
