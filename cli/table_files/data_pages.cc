#include "cli/table_files/data_pages.h"

#include <charconv>
#include <utility>

#include "compat/data_files/reader.h"
#include "compat/wire/base64.h"
#include "compat/wire/md5.h"
#include "engine/values/item_size.h"
#include "http/base/log.h"

namespace mayfly::transfer {
namespace {

class DataFilePages final : public Pages {
 public:
  DataFilePages(DataFile file, os::File opened, std::size_t table, std::uint64_t passed)
      : file_(std::move(file)),
        opened_(std::move(opened)),
        table_(table),
        to_pass_(passed),
        reader_({.file = file_.path(), .format = file_.format, .compression = file_.compression}) {}

  Expected<Page, std::string> next() override {
    Page page{.table = table_};
    for (std::size_t bytes = 0;;) {
      while (auto record = reader_.next()) {
        if (!*record) return Unexpected{sentence_of(record->error())};
        if (read_++ < to_pass_) continue;
        const bool full = is_full(page, bytes, **record);
        page.items.push_back(std::move(**record));
        if (full) {
          page.cursor = std::to_string(read_);
          return page;
        }
      }
      if (reader_.is_over()) break;
      TRY(std::string chunk, read_some(opened_, file_.path()));
      if (chunk.empty())
        reader_.end();
      else
        reader_.feed(std::move(chunk));
    }
    if ((!file_.sha256.empty() || !file_.md5.empty()) && read_ != file_.items)
      return Unexpected{file_.path() + " has " + std::to_string(read_) + " items, but its manifest lists " +
                        std::to_string(file_.items)};
    page.cursor = std::to_string(read_);
    page.last = true;
    return page;
  }

 private:
  const DataFile file_;
  const os::File opened_;
  const std::size_t table_;
  const std::uint64_t to_pass_;
  compat::data_files::Reader reader_;
  std::uint64_t read_ = 0;
};

Expected<std::string, std::string> md5_of(const os::File& file, const std::string& path) {
  compat::Md5 sum;
  for (;;) {
    TRY(const std::string piece, read_some(file, path));
    if (piece.empty()) break;
    sum.add(piece);
  }
  std::string text;
  compat::append_base64(text, sum.end());
  return text;
}

}  // namespace

std::uint64_t passed_by(const std::string& cursor) {
  std::uint64_t passed = 0;
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), passed);
  return passed;
}

bool is_full(const Page& page, std::size_t& page_bytes, const engine::Item& item) {
  page_bytes += engine::item_size(item);
  return page_bytes >= page_bytes_max || page.items.size() + 1 >= page_items_max;
}

std::string sentence_of(const compat::data_files::BadRecord& bad) {
  return bad.file + ": item " + std::to_string(bad.index + 1) + " (line " + std::to_string(bad.line) +
         "): " + http::log::printable(bad.what);
}

Expected<std::unique_ptr<Pages>, std::string> open_data_file(const DataFile& file, std::size_t table,
                                                             const std::string& cursor) {
  const std::string path = file.path();
  const std::string damaged = path + " is damaged: its checksum differs from the manifest's";
  // Computes the checksum and reads the items through the same open file, so that the checksum applies to the
  // bytes that are read.
  TRY(os::File opened, file.directory->open_to_read(file.name));
  std::error_code error;
  if (!file.sha256.empty()) {
    TRY(const std::string sum, sha256_of(opened, path));
    if (sum != file.sha256) return Unexpected{damaged};
    opened.rewind(error);
  }
  if (!file.md5.empty()) {
    TRY(const std::string sum, md5_of(opened, path));
    if (sum != file.md5) return Unexpected{damaged};
    opened.rewind(error);
  }
  if (error) return Unexpected{path + ": " + error.message()};
  return std::unique_ptr<Pages>(
      std::make_unique<DataFilePages>(file, std::move(opened), table, passed_by(cursor)));
}

}  // namespace mayfly::transfer
