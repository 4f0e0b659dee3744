#include "bench/server_process.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mayfly::bench {
namespace {

constexpr std::chrono::seconds end_max{10};

void move_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    std::fprintf(stderr, "cannot set the processor affinity to %d\n", cpu);
}

// Starts the command in its own process group, with standard streams on /dev/null. Returns -1 on failure.
pid_t spawn(std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

void end(pid_t pid) {
  ::kill(-pid, SIGTERM);
  const auto begin = std::chrono::steady_clock::now();
  while (::waitpid(pid, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin > end_max) ::kill(-pid, SIGKILL);
    ::usleep(1000);
  }
}

}  // namespace

std::optional<std::chrono::duration<double, std::milli>> time_to_first_answer(
    std::vector<std::string> command, std::uint16_t port, const Request& request, int server_cpu, int own_cpu,
    std::chrono::seconds start_max) {
  move_to_cpu(server_cpu);  // the spawned process inherits the affinity
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = spawn(command);
  move_to_cpu(own_cpu);
  if (pid == -1) return std::nullopt;
  while (!answers_rightly(port, request)) {
    const bool ended = ::waitpid(pid, nullptr, WNOHANG) == pid;
    if (ended) return std::nullopt;
    if (std::chrono::steady_clock::now() - begin > start_max) {
      end(pid);
      return std::nullopt;
    }
    ::usleep(100);
  }
  const auto first_answer = std::chrono::steady_clock::now();
  end(pid);
  return first_answer - begin;
}

}  // namespace mayfly::bench
