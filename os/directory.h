// Opens files below one directory without following links.
//
// Each part of a path is opened on its own, relative to its directory. A name that a client chose can
// therefore not lead out of the directory, even if the directory's contents change meanwhile. Rejected:
// openat2 with RESOLVE_BENEATH. It is one call instead of several, but older kernels and the system-call
// filters of containers do not support it, so this code would be needed as well. openat2 also follows links
// that stay inside the directory.
//
//   const Directory directory = Directory::open("/exports", error);
//   const File file = open_regular(directory, {"2024", "05", "a.json"}, error).file;
//   if (error) …
//
// Errors are reported as in os/file.h.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "os/file.h"

namespace mayfly::os {

using Parts = std::vector<std::string>;

struct Entry {
  std::string name;
  Kind kind = Kind::other;
};

// Thread-safe, except for assignments.
class Directory {
 public:
  Directory() = default;
  explicit Directory(File file) : file_(std::move(file)) {}

  // `path` itself may be a link, because the user named it.
  static Directory open(const std::string& path, std::error_code& error);

  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  // Opens a directory within this one. not_a_directory or too_many_symbolic_link_levels: it is a link.
  [[nodiscard]] Directory open_below(const std::string& name, std::error_code& error) const;
  // Opens a file of this directory. `how.follows_links` is ignored.
  [[nodiscard]] File open_file(const std::string& name, HowToOpen how, std::error_code& error) const;
  [[nodiscard]] Facts facts_of(const std::string& name, std::error_code& error) const;
  // In no particular order, without "." and "..".
  [[nodiscard]] std::vector<Entry> entries(std::error_code& error) const;

  // Creates a directory that is accessible only to its owner. Not an error: it exists.
  void make_directory(const std::string& name, std::error_code& error) const;
  // An existing file of the new name is replaced, atomically.
  void rename(const std::string& from, const std::string& to, std::error_code& error) const;
  void remove(const std::string& name, std::error_code& error) const;
  // Restricts the directory itself to its owner.
  void restrict_to_owner(std::error_code& error) const;

 private:
  File file_;
};

// True for parts that cannot name a directory entry: "", ".", "..", and those with a zero byte. On Windows
// also those with a backslash, a colon, or a device's name.
bool names_nothing(std::string_view part);
// The longest part that file systems accept, in bytes.
inline constexpr std::size_t part_bytes_max = 255;

// Opens the directory that contains the last part. With `make_missing`, missing directories are created,
// accessible only to their owner. Requires: `parts` is not empty, and names_nothing is false for each part.
Directory open_parent(const Directory& directory, const Parts& parts, bool make_missing,
                      std::error_code& error);

struct RegularFile {
  File file;
  Facts facts;
};
// Opens the regular file that `parts` name, for reading. Never blocks. Errors:
// too_many_symbolic_link_levels or not_a_directory for a link, no_such_device_or_address for a FIFO, a socket
// or a device, is_a_directory for a directory. Requires: as open_parent.
RegularFile open_regular(const Directory& directory, const Parts& parts, std::error_code& error);

}  // namespace mayfly::os
