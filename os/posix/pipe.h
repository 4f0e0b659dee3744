// Pipes of the POSIX implementations.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "os/file.h"

namespace mayfly::os::posix {

// Opens a pipe that the programs started by this process do not inherit. Returns false on failure; errno says
// why.
inline bool open_pipe(File& read, File& write) {
  int ends[2];
#if defined(__APPLE__)  // macOS has no pipe2(), so a program that starts between the calls inherits the pipe
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
#else
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
#endif
  read = File(ends[0]);
  write = File(ends[1]);
  return true;
}

}  // namespace mayfly::os::posix
