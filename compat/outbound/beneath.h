// Opens files below one directory without following links: no symbolic links, and no hard links for files
// that are written in place.
//
// Each path component is opened on its own, relative to its directory and with O_NOFOLLOW. A name that a
// client chose can therefore not lead out of the directory, even if the directory's contents change
// meanwhile. Rejected: openat2 with RESOLVE_BENEATH. It is one call instead of several, but older kernels and
// the system-call filters of containers do not support it, so this code would be needed as well. openat2
// also follows links that stay inside the directory.
//
//   TRY(const auto parts, …);   // {"2024", "05", "a.json"}
//   const RegularFile file = open_regular(directory, parts);
//   if (!file.descriptor.is_open()) return failure_of(errno);
#pragma once

#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mayfly::compat::outbound {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }  // the caller must close it

 private:
  int number_;
};

#if defined(O_PATH)
inline constexpr int path_flag = O_PATH;
#else  // macOS: inspecting a file requires permission to read it
inline constexpr int path_flag = O_RDONLY | O_NONBLOCK;
#endif

// Flags for inspecting an entry and for traversing a directory.
inline constexpr int look_flags = path_flag | O_NOFOLLOW | O_CLOEXEC;
inline constexpr int directory_flags = look_flags | O_DIRECTORY;
// Flags that are added to the access mode. With them, open() never blocks, whatever kind of file the name
// refers to.
inline constexpr int file_flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// True for parts that cannot name a directory entry: "", ".", "..", and parts with a zero byte.
bool names_nothing(std::string_view part);

// Opens the directory that contains the last part. On failure, the descriptor is closed and errno says why.
// With `make_missing`, missing directories are created, accessible only to their owner. Requires: `parts` is
// not empty, and names_nothing is false for each part.
Descriptor open_parent(int directory, const std::vector<std::string>& parts, bool make_missing = false);

struct RegularFile {
  Descriptor descriptor = Descriptor();
  struct stat status {};
};
// Opens the regular file that `parts` name, for reading. Never blocks. On failure, the descriptor is closed
// and errno says why: ELOOP or ENOTDIR for a link, ENXIO for a FIFO, a socket or a device, EISDIR for a
// directory. Requires: the same as open_parent.
RegularFile open_regular(int directory, const std::vector<std::string>& parts);

}  // namespace mayfly::compat::outbound
