// The items of one data file, a page at a time; what is no item ends it.
//
//   TRY(const auto directory, Directory::open("backup"));
//   auto pages = open_data_file({.directory = directory, .name = "carts/data/0000.json.gz"}, 0, "");
//
// A cursor is how many items came before.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/transfer/files.h"
#include "cli/transfer/source.h"
#include "compat/data_files/record.h"

namespace mayfly::transfer {

struct DataFile {
  std::shared_ptr<const Directory> directory;
  std::string name;  // within it
  compat::data_files::Format format = compat::data_files::Format::dynamodb_json;
  compat::data_files::Compression compression = compat::data_files::Compression::gzip;
  std::string sha256{};     // in hexadecimal digits; empty: nobody said
  std::string md5{};        // in base64; empty: nobody said
  std::uint64_t items = 0;  // as its manifest says

  [[nodiscard]] std::string path() const { return directory->path_of(name); }  // for messages
};

// Looks first whether it is what its manifest says, byte for byte.
Expected<std::unique_ptr<Pages>, std::string> open_data_file(const DataFile& file, std::size_t table,
                                                             const std::string& cursor);

// How many items a cursor says.
std::uint64_t passed_by(const std::string& cursor);

// Whether an item of this size fills the page.
bool is_full(const Page& page, std::size_t& page_bytes, const engine::Item& item);

// "carts/data/a.json.gz: item 17: …"
std::string sentence_of(const compat::data_files::BadRecord& bad);

}  // namespace mayfly::transfer
