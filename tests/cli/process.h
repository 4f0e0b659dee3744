// Runs the executable as a child process.
//
//   Process server({"serve", "--port", "0"});
//   CHECK(printed({"clock", "show", "--url", local_url(server.port())}) == …);
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mayfly::testing {

// A run of mayfly or another program. The destructor kills the process and waits until it has ended.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                   const char* program = MAYFLY_EXECUTABLE) {
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
      if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
    int out[2], err[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    arguments.insert(arguments.begin(), program);
    const auto pointers = [](std::vector<std::string>& strings) {
      std::vector<char*> result;
      for (auto& string : strings) result.push_back(string.data());
      result.push_back(nullptr);
      return result;
    };
    REQUIRE(::posix_spawn(&pid_, program, &actions, nullptr, pointers(arguments).data(),
                          pointers(environment).data()) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Process() {
    if (pid_ > 0) end(SIGKILL);
    ::close(out_);
    ::close(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns the next line of standard output without its newline, or "" at the end.
  std::string line() {
    std::string text;
    for (char c; ::read(out_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  std::string errors() { return all_of(err_); }  // all of standard error; waits for its end
  std::string rest() { return all_of(out_); }    // the rest of standard output; waits for its end
  // Sends the signal, unless it is 0, and waits. Returns the exit code, or the negative number of the signal
  // that ended the process.
  int end(int signal_number) {
    if (signal_number != 0) ::kill(pid_, signal_number);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int wait() { return end(0); }

  std::uint16_t port() {  // reads it from the first line of standard output
    const std::string first = line();
    const std::string start = "mayfly listening on http://127.0.0.1:";
    REQUIRE(first.substr(0, start.size()) == start);
    return static_cast<std::uint16_t>(std::stoi(first.substr(start.size())));
  }

 private:
  static std::string all_of(int descriptor) {
    std::string text;
    char piece[4096];
    for (ssize_t got; (got = ::read(descriptor, piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(got));
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

inline std::string local_url(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

// Returns a command's standard output. The command must succeed.
inline std::string printed(std::vector<std::string> arguments) {
  Process command(std::move(arguments));
  std::string text = command.rest();
  CHECK(command.wait() == 0);
  return text;
}

// Returns a command's standard error. The command must fail with `code`.
inline std::string refused(std::vector<std::string> arguments, int code = 1) {
  Process command(std::move(arguments));
  CHECK(command.wait() == code);
  return command.errors();
}

}  // namespace mayfly::testing
