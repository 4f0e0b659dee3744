// The one directory below which failed batches may be written to files; without it, nowhere.
//
// Files are named absolutely, "/failed/carts.jsonl" or "file:///failed/carts.jsonl", in the directory or in
// one below it that is there already. They are regular files, made with mode 0600 where there is none;
// nothing on the way is a link, neither symbolic nor hard, and opening waits for nobody. A file takes lines
// up to `file_bytes_max`.
//
//   TRY(auto directory, DestinationDirectory::open("/failed"));
//   CHECK_OK(directory->check("file:///failed/carts.jsonl"));    // when a mapping is made: a sentence
//   if (!directory->append("file:///failed/carts.jsonl", line)) try_again();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expected.h"
#include "engine/mutex.h"

namespace mayfly::compat::triggers {

class DestinationDirectory {
 public:
  static constexpr std::int64_t file_bytes_max_default = std::int64_t{256} << 20;

  // `path` empty: none, so everything is refused. The errors are sentences for people.
  static Expected<std::unique_ptr<DestinationDirectory>, std::string> open(
      const std::string& path, std::int64_t file_bytes_max = file_bytes_max_default);
  ~DestinationDirectory();
  DestinationDirectory(const DestinationDirectory&) = delete;
  DestinationDirectory& operator=(const DestinationDirectory&) = delete;

  // Whether a destination is spelled as a file is.
  static bool is_file(std::string_view destination);

  // Whether lines may be appended to it. Makes nothing.
  [[nodiscard]] Expected<void, std::string> check(std::string_view destination) const;
  // Appends a line, whole or not at all; false: not.
  bool append(std::string_view destination, std::string_view line);

 private:
  DestinationDirectory(int descriptor, std::vector<std::string> names, std::int64_t file_bytes_max)
      : descriptor_(descriptor), names_(std::move(names)), file_bytes_max_(file_bytes_max) {}

  // The parts of its name below the directory.
  [[nodiscard]] Expected<std::vector<std::string>, std::string> parts_of(std::string_view destination) const;

  const int descriptor_;                  // -1: none
  const std::vector<std::string> names_;  // of the directory: as it was given, and without links
  const std::int64_t file_bytes_max_;
  engine::Mutex mutex_;  // one line at a time
};

}  // namespace mayfly::compat::triggers
