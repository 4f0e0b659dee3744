#include "os/sockets.h"

// Before windows.h.
#include <winsock2.h>

#include "os/windows/api.h"

namespace mayfly::os {

void prepare_to_listen(NativeSocket socket, bool, std::error_code& error) {
  // On Windows, SO_REUSEADDR would let another program take over the port.
  const int yes = 1;
  const bool is_set = ::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
                                   reinterpret_cast<const char*>(&yes), sizeof yes) == 0;
  error = is_set ? std::error_code() : windows::error_of(static_cast<DWORD>(::WSAGetLastError()));
}

}  // namespace mayfly::os
