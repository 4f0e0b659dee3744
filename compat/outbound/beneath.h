// Files below one directory, reached through no link: neither symbolic, nor, for what is written to in place,
// hard.
//
// A directory's entry is opened by one name, never by a path, and never followed (O_NOFOLLOW): so a name that
// a client chose cannot lead out of the directory, whoever changes what is in it meanwhile. Rejected: openat2
// with RESOLVE_BENEATH. It is one call instead of several, but older kernels and the system-call filters of
// containers do not have it, so that this way would be needed beside it; and it follows links that stay
// inside.
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
  int release() { return std::exchange(number_, -1); }  // whoever takes it closes it

 private:
  int number_;
};

#if defined(O_PATH)
inline constexpr int path_flag = O_PATH;
#else  // macOS: who looks at something must be allowed to read it
inline constexpr int path_flag = O_RDONLY | O_NONBLOCK;
#endif

// To look at what is there, and to go on from a directory.
inline constexpr int look_flags = path_flag | O_NOFOLLOW | O_CLOEXEC;
inline constexpr int directory_flags = look_flags | O_DIRECTORY;
// Besides how it is opened: waits for nobody, whatever it turns out to be.
inline constexpr int file_flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// "", ".", ".." and what has a byte 0 name no entry of a directory.
bool names_nothing(std::string_view part);

// The directory that the last part is in; closed: there is none, and errno says why. `make_missing`: those
// that are not there are made, for their owner alone. Requires: `parts` is not empty, and none of them
// names_nothing.
Descriptor open_parent(int directory, const std::vector<std::string>& parts, bool make_missing = false);

struct RegularFile {
  Descriptor descriptor = Descriptor();
  struct stat status {};
};
// Opens the regular file that `parts` name, to read it. Never waits. Closed if there is none; errno says
// why: ELOOP or ENOTDIR for a link, ENXIO for a FIFO, a socket or a device, EISDIR for a directory. Requires:
// as open_parent.
RegularFile open_regular(int directory, const std::vector<std::string>& parts);

}  // namespace mayfly::compat::outbound
