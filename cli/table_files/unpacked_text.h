// The text of a file or of standard input, read a piece at a time and unpacked if it is gzip or Zstandard.
//
//   TRY(auto text, UnpackedText::open("items.json.gz"));   // "-": standard input
//   while (…text->rest() is too short…) { TRY(const bool more, text->extend()); … }
//   text->pass(17);                                        // 17 bytes have been read
//
// Errors are human-readable sentences with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/table_files/files.h"
#include "compat/data_files/compression.h"
#include "engine/base/expected.h"

namespace mayfly::transfer {

class UnpackedText {
 public:
  static Expected<std::unique_ptr<UnpackedText>, std::string> open(const std::string& path);

  // The unpacked text that has not been passed. Valid until extend() or pass() is called.
  [[nodiscard]] std::string_view rest() const { return std::string_view(text_).substr(begin_); }
  // Appends about 64 KB to rest(). Returns false at the end of the text.
  Expected<bool, std::string> extend();
  // Requires: `count` is at most the size of rest().
  void pass(std::size_t count);
  [[nodiscard]] const std::string& name() const { return name_; }
  // Returns "items.json: line 3: " followed by `what`. The number is that of the line where rest() begins,
  // counted from 1.
  [[nodiscard]] std::string sentence(const std::string& what) const;

 private:
  UnpackedText(std::string name, os::File file) : name_(std::move(name)), file_(std::move(file)) {}
  Expected<void, std::string> read();

  const std::string name_;
  const os::File file_;
  std::unique_ptr<compat::data_files::Unpacker> unpacker_;
  std::string packed_, text_;
  std::size_t packed_read_ = 0, begin_ = 0;
  std::uint64_t line_ = 1;
  bool ended_ = false;
};

}  // namespace mayfly::transfer
