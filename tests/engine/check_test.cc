// Checks stay on in every build, and tell a handler before the process aborts.
#include "engine/check.h"

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mayfly::testing {

using namespace engine;

namespace {

struct Ended {
  int signal = 0;    // 0: it exited
  std::string said;  // on standard error
};

// Runs `work` in a child process.
Ended in_a_child(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // instead of Catch2's handler
    ::dup2(ends[1], STDERR_FILENO);
    work();
    _exit(0);
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

void fails() {
  const int count = 2;
  MAYFLY_CHECK(count == 3);
}

void tell(const FailedCheck& failed, void* context) {
  std::fprintf(stderr, "%s: %s in %s", static_cast<const char*>(context), failed.expression, failed.file);
}

}  // namespace

TEST_CASE("a check that fails says what and where, and the process aborts") {
  const Ended ended = in_a_child(fails);
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said.starts_with(
      "mayfly: a check failed, which is a mistake in Mayfly: count == 3 (tests/engine/check_test.cc:"));
}

TEST_CASE("a handler is told of a failed check, and the process aborts when it returns") {
  std::string context = "told";
  const Ended ended = in_a_child([&] {
    set_check_handler(&tell, context.data());
    fails();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said == "told: count == 3 in tests/engine/check_test.cc");
}

TEST_CASE("a handler that throws, or fails a check itself, ends the process as well") {
  const Ended throwing = in_a_child([] {
    set_check_handler([](const FailedCheck&, void*) { throw 1; });
    fails();
  });
  CHECK(throwing.signal == SIGABRT);
  const Ended failing = in_a_child([] {
    set_check_handler([](const FailedCheck&, void*) { fails(); });
    fails();
  });
  CHECK(failing.signal == SIGABRT);
  CHECK(failing.said.find("count == 3") != std::string::npos);
}

TEST_CASE("of checks that fail at the same time one is told") {
  const Ended ended = in_a_child([] {
    std::string context = "told";
    set_check_handler(&tell, context.data());
    std::thread one(fails), other(fails);
    one.join();
    other.join();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said == "told: count == 3 in tests/engine/check_test.cc");
}

TEST_CASE("without a handler again, a failed check says its line") {
  const Ended ended = in_a_child([] {
    set_check_handler(&tell);
    set_check_handler(nullptr);
    fails();
  });
  CHECK(ended.said.starts_with("mayfly: a check failed"));
}

TEST_CASE("a check that holds looks once, and goes on") {
  int looks = 0;
  MAYFLY_CHECK(++looks == 1);
  CHECK(looks == 1);
}

}  // namespace mayfly::testing
