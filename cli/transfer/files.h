// Files of exports, read and written whole or in pieces. Errors are sentences with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compat/outbound/beneath.h"
#include "engine/expected.h"

namespace mayfly::transfer {

using compat::outbound::Descriptor;

// Regular files, and what stands in their place: pipes, /dev/stdin.
Expected<Descriptor, std::string> open_to_read(const std::string& path);
// Up to 64 KB; empty: its end.
Expected<std::string, std::string> read_some(int descriptor, const std::string& path);
Expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max);

Expected<void, std::string> write_all(int descriptor, std::string_view text, const std::string& path);
// What has this name afterwards is the old one or the new one, whole.
Expected<void, std::string> write_file(const std::string& path, std::string_view text);
// Those above it, too. What is made here, and the files, are their owner's alone.
Expected<void, std::string> make_directory(const std::string& path);

// In hexadecimal digits.
Expected<std::string, std::string> sha256_of_file(const std::string& path);

// A file that grows: what is beyond `bytes` goes first, and so many must be there.
class GrowingFile {
 public:
  static Expected<std::unique_ptr<GrowingFile>, std::string> open(const std::string& path,
                                                                  std::uint64_t bytes);
  // Of standard output and the like.
  GrowingFile(Descriptor descriptor, std::string path, std::uint64_t bytes)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), bytes_(bytes) {}

  Expected<void, std::string> append(std::string_view text);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  Expected<void, std::string> sync();

 private:
  const Descriptor descriptor_;
  const std::string path_;
  std::uint64_t bytes_;
};

}  // namespace mayfly::transfer
