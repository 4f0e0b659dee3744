// Reads and writes files of exports, whole or in pieces. Errors are sentences with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/expected.h"
#include "os/directory.h"

namespace mayfly::transfer {

// Opens a file that the user named: a regular file, or a pipe such as /dev/stdin.
Expected<os::File, std::string> open_to_read(const std::string& path);
// Reads up to 64 KB; empty: the end of the file.
Expected<std::string, std::string> read_some(const os::File& file, const std::string& path);
Expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max);
// Reads from the file's position. `path` is for messages.
Expected<std::string, std::string> read_file(const os::File& file, const std::string& path,
                                             std::size_t bytes_max);

Expected<void, std::string> write_all(const os::File& file, std::string_view text, const std::string& path);
// Creates the directory and its missing parents. Only the owner can access the directory and the files that
// are created below it.
Expected<void, std::string> make_directory(const std::string& path);

class GrowingFile;

// Whether `name` can name a file within a directory, without leading out of it.
bool is_name_within(std::string_view name);

// A directory that the user named. Its contents are not trusted. Regular files are opened by their names
// within it, such as "carts/table.json", without following links (os/directory.h) and without blocking.
// Every file of an export is opened through this class.
//
// Thread-safe.
class Directory {
 public:
  // `path` itself may be a link.
  static Expected<std::shared_ptr<const Directory>, std::string> open(const std::string& path);
  Directory(os::Directory opened, std::string path) : opened_(std::move(opened)), path_(std::move(path)) {}

  // Opens a directory within this one, such as "AWSDynamoDB/01693467621041-039fcf72". Links on the way to
  // that directory and in it are not followed.
  Expected<std::shared_ptr<const Directory>, std::string> open_below(const std::string& name) const;

  // Returns the path for use in messages.
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // Whether there is an entry of this name, of any type.
  [[nodiscard]] bool has(const std::string& name) const;
  Expected<os::File, std::string> open_to_read(const std::string& name) const;
  Expected<std::string, std::string> read_file(const std::string& name, std::size_t bytes_max) const;
  // Like GrowingFile::open. Creates missing directories.
  Expected<std::unique_ptr<GrowingFile>, std::string> open_to_grow(const std::string& name,
                                                                   std::uint64_t bytes) const;
  // Replaces the file atomically. Creates missing directories.
  Expected<void, std::string> write_file(const std::string& name, std::string_view text) const;

 private:
  const os::Directory opened_;
  const std::string path_;
};

// The SHA-256 of the bytes up to the end of the file, in hexadecimal digits.
Expected<std::string, std::string> sha256_of(const os::File& file, const std::string& path);

// A file that only grows. Opening the file truncates it to `bytes`, and fails if the file is shorter. Links
// are not followed, and a file with several names is not written to, because another user could have planted
// such a link or file in a shared directory. Links in /dev and /proc, such as /dev/stdout, are followed.
class GrowingFile {
 public:
  static Expected<std::unique_ptr<GrowingFile>, std::string> open(const std::string& path,
                                                                  std::uint64_t bytes);
  static Expected<std::unique_ptr<GrowingFile>, std::string> of(os::File file, std::string path,
                                                                std::uint64_t bytes);
  // For standard output.
  GrowingFile(os::File file, std::string path, std::uint64_t bytes)
      : file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}

  Expected<void, std::string> append(std::string_view text);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  Expected<void, std::string> sync();

 private:
  const os::File file_;
  const std::string path_;
  std::uint64_t bytes_;
};

}  // namespace mayfly::transfer
