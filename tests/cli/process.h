// Runs the executable as a child process.
//
//   Process server({"serve", "--port", "0"});
//   CHECK(printed({"clock", "show", "--url", local_url(server.port())}) == …);
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/own_program.h"
#include "tests/support/places.h"

namespace mayfly::testing {

// The path of mayfly.
inline std::string executable() { return place("MAYFLY_TEST_PROGRAM", MAYFLY_EXECUTABLE); }

enum class End : std::uint8_t { none, terminate, interrupt, kill };

// A run of mayfly or another program. The destructor kills the process and waits until it has ended.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                   const std::string& program = executable()) {
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "SYSTEMROOT"})
      if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
    arguments.insert(arguments.begin(), program);
    std::error_code error;
    child_ = os::Child::start({std::move(arguments), std::move(environment)}, error);
    REQUIRE_FALSE(error);
  }

  // Returns the next line of standard output without its newline, or "" at the end.
  std::string line() {
    std::string text;
    std::error_code error;
    for (char c = 0; child_.output().read({&c, 1}, error) == 1 && c != '\n';) text += c;
    return text;
  }
  std::string errors() { return all_of(child_.errors()); }  // all of standard error; waits for its end
  std::string rest() { return all_of(child_.output()); }    // the rest of standard output; waits for its end
  // Ends the process and waits. Returns its exit status.
  int end(End how) {
    if (how == End::terminate) child_.terminate();
    if (how == End::interrupt) child_.interrupt();
    if (how == End::kill) child_.kill();
    return *child_.wait();
  }
  int wait() { return end(End::none); }
  // Ends the process as a user does. Returns whether it exited with status 0. Without a console, as under
  // Wine, nothing can ask a process on Windows to end, so it is killed.
  bool end_cleanly() {
    const int status = end(End::terminate);
#if defined(_WIN32)
    constexpr int killed_status = 137;
    if (status == killed_status) return true;
#endif
    return status == 0;
  }

  std::uint16_t port() {  // reads it from the first line of standard output
    const std::string first = line();
    const std::string start = "mayfly listening on http://127.0.0.1:";
    REQUIRE(first.substr(0, start.size()) == start);
    return static_cast<std::uint16_t>(std::stoi(first.substr(start.size())));
  }

 private:
  static std::string all_of(const os::File& file) {
    std::string text;
    char piece[4096];
    std::error_code error;
    while (const std::size_t got = file.read(piece, error)) text.append(piece, got);
    return text;
  }

  os::Child child_;
};

// The arguments for a server whose new accounts have the frozen time 2031-01-01T00:00:00Z.
inline std::vector<std::string> frozen_server(const std::vector<std::string>& options) {
  std::vector<std::string> all = {
      "serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z"};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

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
