#include "bench/server_process.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/load.h"

namespace mayfly::bench {
namespace {

constexpr std::chrono::seconds start_max{20};

// Free now; taken by somebody else before our server asks for it only by great ill luck.
std::uint16_t free_port() {
  boost::asio::io_context io;
  const boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  return acceptor.local_endpoint().port();
}

pid_t spawn(std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::fprintf(stderr, "could not start %s\n", arguments[0]);
    std::exit(1);
  }
  return pid;
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> command) : port_(free_port()) {
  for (auto& argument : command) {
    if (argument == port_here) argument = std::to_string(port_);
  }
  const auto begin = std::chrono::steady_clock::now();
  pid_ = spawn(command);
  while (!answers(port_)) {
    if (std::chrono::steady_clock::now() - begin > start_max) {
      std::fprintf(stderr, "%s does not answer\n", command[0].c_str());
      ::kill(pid_, SIGKILL);
      std::exit(1);
    }
    ::usleep(100);  // leaves the processor to the server
  }
  start_ms_ = std::chrono::steady_clock::now() - begin;
}

ServerProcess::~ServerProcess() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double ServerProcess::memory_mb() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

}  // namespace mayfly::bench
