// Flags for opening sockets and for writing to them. macOS has neither flag: there, child processes inherit
// sockets, and writing to a socket that the other side has closed raises SIGPIPE.
#pragma once

#include <sys/socket.h>

namespace mayfly::testing {

#if defined(__APPLE__)
inline constexpr int socket_flags = 0;
inline constexpr int send_flags = 0;
#else
inline constexpr int socket_flags = SOCK_CLOEXEC;
inline constexpr int send_flags = MSG_NOSIGNAL;
#endif

}  // namespace mayfly::testing
