#include "cli/end_signals.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mayfly::testing {

using http::EndSignals;
using std::chrono::milliseconds;

namespace {

// How a process of its own ends, which has no thread but the one that is in `body`: what `body` returns, or,
// negative, by which signal.
template <class Body>
int in_a_process(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGTERM, SIGINT}) ::signal(number, SIG_DFL);  // Catch has handlers
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

bool can_be_read(int descriptor) {
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

}  // namespace

TEST_CASE("an end signal is seen by all that look, wait and poll, and is the first that came") {
  for (const int number : {SIGTERM, SIGINT}) {
    CHECK(in_a_process([number] {
            const EndSignals signals;
            const bool none = signals.came() == 0 && signals.wait(milliseconds(0)) == 0 &&
                              signals.wait(milliseconds(1)) == 0 && !can_be_read(signals.descriptor());
            int seen = 0;
            std::thread other([&] { seen = signals.wait(); });
            ::kill(::getpid(), number);
            const int waited = signals.wait();
            other.join();
            return none && can_be_read(signals.descriptor()) && seen == waited ? waited : 0;
          }) == number);
  }
}

TEST_CASE("a second end signal changes nothing, or ends the process") {
  const auto after_two = [](EndSignals::Another another) {
    return in_a_process([another] {
      int came = 0;
      {
        const EndSignals signals(another);
        ::kill(::getpid(), SIGINT);
        came = signals.wait();
        ::kill(::getpid(), SIGTERM);
        if (another == EndSignals::Another::ends_the_process) ::pause();
        came = signals.wait(milliseconds(1)) == came ? came : 0;
      }
      return came;  // and the process is there, whether or not the second was seen in time
    });
  };
  CHECK(after_two(EndSignals::Another::is_ignored) == SIGINT);
  CHECK(after_two(EndSignals::Another::ends_the_process) == -SIGTERM);
}

TEST_CASE("a process that does not end by itself after a signal ends with the status that Late returns") {
  static_assert(EndSignals::late_after < milliseconds(1000));  // SECURITY.md promises a second
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
  // One that ends in time is not late, and Late may let it go on.
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

TEST_CASE("end signals are blocked in threads that start while somebody looks for them, and no longer") {
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
