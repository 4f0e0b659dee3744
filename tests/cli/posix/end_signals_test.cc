#include "cli/base/end_signals.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mayfly::testing {

using cli::EndSignals;
using std::chrono::milliseconds;

namespace {

// Runs `body` in a child process that has no other thread. Returns what `body` returns, or the negative
// signal number if a signal ended the process.
template <class Body>
int in_a_process(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGTERM, SIGINT}) ::signal(number, SIG_DFL);  // replaces Catch2's handlers
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool is_blocked(int number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, number) == 1;
}

bool is_set(const os::Event& event) { return event.wait(milliseconds(0)); }

// 0: none.
int number_of(std::optional<os::EndSignal> signal) {
  if (!signal) return 0;
  return *signal == os::EndSignal::terminate ? SIGTERM : SIGINT;
}

}  // namespace

TEST_CASE("an end signal wakes every observer and sets the event") {
  for (const int number : {SIGTERM, SIGINT}) {
    CHECK(in_a_process([number] {
            const EndSignals signals;
            const bool none = !signals.came() && !signals.wait(milliseconds(0)) &&
                              !signals.wait(milliseconds(1)) && !is_set(signals.event());
            int seen = 0;
            std::thread other([&] { seen = number_of(signals.wait()); });
            ::kill(::getpid(), number);
            const int waited = number_of(signals.wait());
            other.join();
            return none && is_set(signals.event()) && seen == waited ? waited : 0;
          }) == number);
  }
}

TEST_CASE("a second end signal is ignored or ends the process as configured") {
  const auto after_two = [](EndSignals::Another another) {
    return in_a_process([another] {
      int came = 0;
      {
        const EndSignals signals(another);
        ::kill(::getpid(), SIGINT);
        came = number_of(signals.wait());
        ::kill(::getpid(), SIGTERM);
        if (another == EndSignals::Another::ends_the_process) ::pause();
        came = number_of(signals.wait(milliseconds(1))) == came ? came : 0;
      }
      return came;  // the process survives whether or not the second signal has arrived by now
    });
  };
  CHECK(after_two(EndSignals::Another::is_ignored) == SIGINT);
  CHECK(after_two(EndSignals::Another::ends_the_process) == -SIGTERM);
}

TEST_CASE(
    "a process that does not end soon after a signal exits with the status that its Late function returns") {
  static_assert(EndSignals::late_after < milliseconds(1000));  // SECURITY.md promises an exit within 1 s
  CHECK(in_a_process([] {
          const EndSignals signals(EndSignals::Another::is_ignored, [] { return 7; });
          const bool unstopped = !signals.stop_token().stop_requested();
          ::kill(::getpid(), SIGTERM);
          signals.wait();
          while (!signals.stop_token().stop_requested()) {}
          if (unstopped)
            for (;;) ::pause();
          return 0;
        }) == 7);
  // Late is not called if EndSignals is destroyed in time. If Late returns nullopt, the process continues.
  CHECK(in_a_process([] {
          {
            const EndSignals signals(EndSignals::Another::is_ignored, [] { return 7; });
            ::kill(::getpid(), SIGTERM);
            signals.wait();
          }
          std::atomic<bool> asked = false;
          const EndSignals signals(EndSignals::Another::is_ignored, [&]() -> std::optional<int> {
            asked = true;
            return std::nullopt;
          });
          ::kill(::getpid(), SIGTERM);
          while (!asked) {}
          return 3;
        }) == 3);
}

TEST_CASE("end signals are blocked only in threads that start while EndSignals exists") {
  const bool before = is_blocked(SIGTERM);
  bool in_thread = false;
  {
    const EndSignals signals;
    std::thread([&] { in_thread = is_blocked(SIGTERM) && is_blocked(SIGINT); }).join();
    CHECK(is_blocked(SIGINT));
  }
  CHECK(in_thread);
  CHECK(is_blocked(SIGTERM) == before);
}

}  // namespace mayfly::testing
