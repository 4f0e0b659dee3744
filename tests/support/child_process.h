// Runs a function in a child process, for tests of code that ends the process.
//
//   const Ended ended = in_a_child([] { std::abort(); });
//   CHECK(ended.signal == SIGABRT);
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace mayfly::testing {

struct Ended {
  int signal = 0;    // 0: the child exited
  std::string said;  // on standard error
};

inline Ended in_a_child(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // instead of Catch2's handler
    ::dup2(ends[1], STDERR_FILENO);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended;
  std::array<char, 4096> some{};
  for (ssize_t bytes = 0; (bytes = ::read(ends[0], some.data(), some.size())) > 0;)
    ended.said.append(some.data(), static_cast<std::size_t>(bytes));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace mayfly::testing
