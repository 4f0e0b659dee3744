// How the POSIX implementations open files.
#pragma once

#include <cerrno>
#include <fcntl.h>
#include <sys/types.h>
#include <system_error>

#include "os/file.h"
#include "os/posix/errors.h"

namespace mayfly::os::posix {

// For inspecting an entry, and for traversing a directory.
#if defined(O_PATH)
inline constexpr int look_flags = O_PATH | O_CLOEXEC;
#else  // macOS: inspecting a file requires permission to read it
inline constexpr int look_flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
#endif

inline int flags_of(HowToOpen how) {
  int flags = O_NOCTTY | O_CLOEXEC;
  switch (how.access) {
    case Access::read: flags |= O_RDONLY; break;
    case Access::write: flags |= O_WRONLY; break;
    case Access::append: flags |= O_WRONLY | O_APPEND; break;
    case Access::read_and_append: flags |= O_RDWR | O_APPEND; break;
  }
  if (how.make != Make::never) flags |= O_CREAT;
  if (how.make == Make::must_be_new) flags |= O_EXCL;
  if (!how.follows_links) flags |= O_NOFOLLOW;
  if (!how.waits) flags |= O_NONBLOCK;
  return flags;
}

inline mode_t mode_of(HowToOpen how) { return how.is_private ? 0600 : 0666; }

// FreeBSD reports EMLINK for a link.
inline std::error_code error_of_opening() {
  return errno == EMLINK ? std::make_error_code(std::errc::too_many_symbolic_link_levels) : last_error();
}

}  // namespace mayfly::os::posix
