// Options of listening sockets, which differ between systems.
#pragma once

#include <cstdint>
#include <system_error>

namespace mayfly::os {

#if defined(_WIN32)
using NativeSocket = std::uintptr_t;
inline constexpr bool can_share_ports = false;
#else
using NativeSocket = int;
// Several sockets can listen on the same port, and the system distributes the connections among them.
#if defined(__APPLE__)
inline constexpr bool can_share_ports = false;
#else
inline constexpr bool can_share_ports = true;
#endif
#endif

// Call it before the socket is bound. The port can be used again right after a server that used it has ended
// (on Windows, once the server's connections have ended as well), but not while another one listens on it.
// `shared`: other sockets of this process listen on the same port.
// Requires: can_share_ports, or not `shared`.
void prepare_to_listen(NativeSocket socket, bool shared, std::error_code& error);

}  // namespace mayfly::os
