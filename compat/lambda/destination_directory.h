// The directory that event source mappings can write failed batches to. Without such a directory, file
// destinations are rejected.
//
// Destinations are absolute paths, "/failed/carts.jsonl" or "file:///failed/carts.jsonl", in the directory or
// in an existing subdirectory. Files are regular files and are created with mode 0600 if they are missing. No
// part of the path can be a symbolic link, and the file cannot have hard links. Opening a file never blocks.
// A file can grow up to `file_bytes_max`.
//
//   TRY(auto directory, DestinationDirectory::open("/failed"));
//   CHECK_OK(directory->check("file:///failed/carts.jsonl"));    // when a mapping is created
//   if (!directory->append("file:///failed/carts.jsonl", line)) try_again();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "os/directory.h"

namespace mayfly::compat::triggers {

class DestinationDirectory {
 public:
  static constexpr std::int64_t file_bytes_max_default = std::int64_t{256} << 20;

  // If `path` is empty, all file destinations are rejected. Errors, here and in check(), are human-readable
  // messages.
  static Expected<std::unique_ptr<DestinationDirectory>, std::string> open(
      const std::string& path, std::int64_t file_bytes_max = file_bytes_max_default);
  DestinationDirectory(const DestinationDirectory&) = delete;
  DestinationDirectory& operator=(const DestinationDirectory&) = delete;

  // Whether a destination has the form of a file: an absolute path or a file: URL.
  static bool is_file(std::string_view destination);

  // Whether lines can be appended to the destination. Creates nothing.
  [[nodiscard]] Expected<void, std::string> check(std::string_view destination) const;
  // Appends a whole line, or nothing. Returns false if the line was not appended.
  bool append(std::string_view destination, std::string_view line);

 private:
  DestinationDirectory(os::Directory directory, std::vector<std::string> names, std::int64_t file_bytes_max)
      : directory_(std::move(directory)), names_(std::move(names)), file_bytes_max_(file_bytes_max) {}

  // Returns the parts of the destination's path below the directory.
  [[nodiscard]] Expected<os::Parts, std::string> parts_of(std::string_view destination) const;

  const os::Directory directory_;         // not open if no directory was given
  const std::vector<std::string> names_;  // the directory's path as it was given, and with links resolved
  const std::int64_t file_bytes_max_;
  engine::Mutex mutex_;  // serializes append(), so that lines do not interleave
};

}  // namespace mayfly::compat::triggers
