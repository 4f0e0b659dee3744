#include "os/terminal.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace mayfly::os {
namespace {

File duplicate(int descriptor) { return File(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)); }

}  // namespace

void use_plain_line_ends() {}

bool is_terminal_output() { return ::isatty(STDOUT_FILENO) == 1; }
bool is_terminal_error() { return ::isatty(STDERR_FILENO) == 1; }

void write_error(std::string_view text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); }

File standard_input() { return duplicate(STDIN_FILENO); }
File standard_output() { return duplicate(STDOUT_FILENO); }

File take_standard_output() {
  File out = standard_output();
  if (out.is_open()) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

std::size_t read_standard_input(std::span<char> to, const Event& end) {
  for (;;) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {end.native(), POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) return 0;
    if (ready[1].revents != 0) return 0;
    if (ready[0].revents == 0) continue;
    const ssize_t got = ::read(STDIN_FILENO, to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return 0;
  }
}

}  // namespace mayfly::os
