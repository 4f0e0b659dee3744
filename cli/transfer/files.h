// Files of exports, read and written whole or in pieces. Errors are sentences with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "compat/outbound/beneath.h"
#include "engine/expected.h"

namespace mayfly::transfer {

using compat::outbound::Descriptor;

// A file that the command line names: a regular one, or a pipe such as /dev/stdin.
Expected<Descriptor, std::string> open_to_read(const std::string& path);
// Up to 64 KB; empty: its end.
Expected<std::string, std::string> read_some(int descriptor, const std::string& path);
Expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max);
// From the descriptor's position on; `path` is for messages.
Expected<std::string, std::string> read_file(int descriptor, const std::string& path, std::size_t bytes_max);

Expected<void, std::string> write_all(int descriptor, std::string_view text, const std::string& path);
// Those above it, too. What is made here, and the files, are their owner's alone.
Expected<void, std::string> make_directory(const std::string& path);

class GrowingFile;

// Whether the name can be one within a directory: it does not lead out of it.
bool is_name_within(std::string_view name);

// A directory that the command line names. Its contents are not trusted. Its regular files are opened by
// names within it, "carts/table.json", without following a link (outbound/beneath.h) and without waiting.
// Every file of an export is opened here.
//
// Thread-safe.
class Directory {
 public:
  // `path` may be a link itself.
  static Expected<std::shared_ptr<const Directory>, std::string> open(const std::string& path);
  Directory(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  // A directory within this one, "AWSDynamoDB/01693467621041-039fcf72", whose own links are not followed
  // either.
  Expected<std::shared_ptr<const Directory>, std::string> open_below(const std::string& name) const;

  // For messages.
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // Whether there is an entry of this name, of whatever kind.
  [[nodiscard]] bool has(const std::string& name) const;
  Expected<Descriptor, std::string> open_to_read(const std::string& name) const;
  Expected<std::string, std::string> read_file(const std::string& name, std::size_t bytes_max) const;
  // As GrowingFile::open; missing directories are made.
  Expected<std::unique_ptr<GrowingFile>, std::string> open_to_grow(const std::string& name,
                                                                   std::uint64_t bytes) const;
  // Replaces the file in one step. Missing directories are made.
  Expected<void, std::string> write_file(const std::string& name, std::string_view text) const;

 private:
  const Descriptor descriptor_;
  const std::string path_;
};

// The sum of all bytes up to the end of the file, in hexadecimal digits.
Expected<std::string, std::string> sha256_of(int descriptor, const std::string& path);

// A file that only grows. Opening one cuts it to `bytes`, which it must have. A link is not followed, and a
// file that has other names is not written to: either could be planted in a directory that other users can
// write to. Links in /dev and /proc, such as /dev/stdout, are followed.
class GrowingFile {
 public:
  static Expected<std::unique_ptr<GrowingFile>, std::string> open(const std::string& path,
                                                                  std::uint64_t bytes);
  static Expected<std::unique_ptr<GrowingFile>, std::string> of(Descriptor descriptor, std::string path,
                                                                std::uint64_t bytes);
  // For standard output.
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
