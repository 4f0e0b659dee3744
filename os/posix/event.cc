#include "os/event.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include "os/posix/pipe.h"

namespace mayfly::os {

Event::Event() {
  if (!posix::open_pipe(waits_, sets_)) throw std::system_error(errno, std::generic_category(), "pipe");
}

void Event::set() {
  const char byte = 0;
  (void)!::write(sets_.native(), &byte, 1);
}

bool Event::wait(std::optional<std::chrono::milliseconds> time) const {
  using std::chrono::steady_clock;
  const auto deadline = time ? std::optional(steady_clock::now() + *time) : std::nullopt;
  for (;;) {
    pollfd ready{native(), POLLIN, 0};
    std::int64_t left_ms = -1;  // no limit
    if (deadline)
      left_ms = std::max<std::int64_t>(
          0, std::chrono::ceil<std::chrono::milliseconds>(*deadline - steady_clock::now()).count());
    if (::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left_ms, INT_MAX))) == 1) return true;
    if (left_ms == 0) return false;
  }
}

}  // namespace mayfly::os
