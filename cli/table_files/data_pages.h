// Reads the items of one data file, a page at a time. A record that is not an item is an error.
//
//   TRY(const auto directory, Directory::open("backup"));
//   auto pages = open_data_file({.directory = directory, .name = "carts/data/0000.json.gz"}, 0, "");
//
// A cursor is a position in the file, written as the number of items before that position.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/table_files/files.h"
#include "cli/table_files/source.h"
#include "compat/data_files/record.h"

namespace mayfly::transfer {

struct DataFile {
  std::shared_ptr<const Directory> directory;
  std::string name;  // within `directory`
  compat::data_files::Format format = compat::data_files::Format::dynamodb_json;
  compat::data_files::Compression compression = compat::data_files::Compression::gzip;
  std::string sha256{};     // hexadecimal digits; empty: unknown
  std::string md5{};        // base64; empty: unknown
  std::uint64_t items = 0;  // according to the manifest

  [[nodiscard]] std::string path() const { return directory->path_of(name); }  // for messages
};

// First checks that the file's bytes match the manifest's checksums.
Expected<std::unique_ptr<Pages>, std::string> open_data_file(const DataFile& file, std::size_t table,
                                                             const std::string& cursor);

// Returns the number of items before `cursor`.
std::uint64_t passed_by(const std::string& cursor);

// Adds the item's size to `page_bytes` and returns whether the item fills the page.
bool is_full(const Page& page, std::size_t& page_bytes, const engine::Item& item);

// Returns a sentence such as "carts/data/a.json.gz: item 17 (line 18): …".
std::string sentence_of(const compat::data_files::BadRecord& bad);

}  // namespace mayfly::transfer
