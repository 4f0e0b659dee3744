#include "os/process.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char** environ;

namespace mayfly::os {

std::uint64_t process_id() { return static_cast<std::uint64_t>(::getpid()); }

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

Parent::Parent() : id_(static_cast<std::uint64_t>(::getppid())) {}

bool Parent::has_exited() const { return static_cast<std::uint64_t>(::getppid()) != id_; }

std::vector<std::string> arguments(int count, char** values) { return {values, values + count}; }

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  // After clearenv(), glibc has no array.
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

void raise_open_files_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
#if defined(__APPLE__)
  // macOS reports no limit, but can reject more than this number.
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, OPEN_MAX));
#else
  limit.rlim_cur = limit.rlim_max;
#endif
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::uint64_t open_files_max() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

void let_writes_fail() {
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

void at_exit(void (*run)()) {
#if defined(__GLIBC__)
  // In libmayfly.so, atexit() does nothing (embed/shared_library.cc).
  ::on_exit([](int, void* given) { reinterpret_cast<void (*)()>(given)(); }, reinterpret_cast<void*>(run));
#else
  std::atexit(run);
#endif
}

void exit_now(int status) { ::_exit(status); }

void end_after(std::chrono::seconds time) { ::alarm(static_cast<unsigned>(time.count())); }
void cancel_end() { ::alarm(0); }

}  // namespace mayfly::os
