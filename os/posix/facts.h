// Facts of a file, from what stat() reports.
#pragma once

#include <sys/stat.h>

#include "os/file.h"

namespace mayfly::os::posix {

inline Kind kind_of(mode_t mode) {
  return S_ISREG(mode)   ? Kind::file
         : S_ISDIR(mode) ? Kind::directory
         : S_ISLNK(mode) ? Kind::link
                         : Kind::other;
}

inline Facts facts_of(const struct stat& status) {
#if defined(__APPLE__)
  const timespec written = status.st_mtimespec;
#else
  const timespec written = status.st_mtim;
#endif
  return {.kind = kind_of(status.st_mode),
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .names = static_cast<std::uint64_t>(status.st_nlink),
          .version = {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
                      static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(written.tv_sec),
                      static_cast<std::uint64_t>(written.tv_nsec)}};
}

}  // namespace mayfly::os::posix
