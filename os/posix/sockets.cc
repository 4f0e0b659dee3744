#include "os/sockets.h"

#include <sys/socket.h>

#include "os/posix/errors.h"

namespace mayfly::os {

void prepare_to_listen(NativeSocket socket, bool shared, std::error_code& error) {
  const int yes = 1;
  const auto set = [&](int option) {
    posix::call(error, [&] { return ::setsockopt(socket, SOL_SOCKET, option, &yes, sizeof yes); });
  };
  set(SO_REUSEADDR);
  if (shared && !error) set(SO_REUSEPORT);
}

}  // namespace mayfly::os
