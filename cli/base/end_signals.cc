#include "cli/base/end_signals.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "engine/base/stopwatch.h"

namespace mayfly::cli {

EndSignals::EndSignals(Another another, Late late) : another_(another), late_(std::move(late)) {
  if (::pipe(pipe_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  for (const int end : pipe_) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  try {
    thread_ = std::thread([this] { take(); });
  } catch (const std::system_error& failure) {
    for (const int end : pipe_) ::close(end);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw std::system_error(failure.code(), "cannot start a thread");
  }
}

EndSignals::~EndSignals() {
  over_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);  // makes thread_ end
  thread_.join();
  // Takes any further pending signal, which would otherwise end the process when the signals are unblocked.
  sigset_t pending;
  const auto has_more = [&] {
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
  };
  for (int number = 0; has_more();) sigwait(&signals_, &number);
  for (const int end : pipe_) ::close(end);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void EndSignals::take() {
  for (int number = 0; sigwait(&signals_, &number) == 0 && !over_;) {
    if (came_ == 0) {
      came_ = number;
      const char byte = 0;
      (void)!::write(pipe_[1], &byte, 1);
      if (late_) begin_to_be_late();
      std::stop_source(stop_).request_stop();
    } else if (another_ == Another::ends_the_process) {
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      ::raise(number);
    }
  }
}

void EndSignals::begin_to_be_late() {
  try {
    deadline_.emplace(late_after, [this] {
      ::alarm(1);  // in case nothing reads standard error and a write to it blocks
      if (const auto status = late_()) ::_exit(*status);
      ::alarm(0);
    });
  } catch (const std::system_error&) {
    ::alarm(1);  // no thread is available for the deadline
  }
}

int EndSignals::wait(std::optional<std::chrono::milliseconds> time) const {
  const engine::Stopwatch stopwatch;
  while (came_ == 0 && (!time || stopwatch.elapsed() < *time)) {
    pollfd ready{pipe_[0], POLLIN, 0};
    int left_ms = -1;  // no limit
    if (time) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*time - stopwatch.elapsed());
      left_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
    }
    ::poll(&ready, 1, left_ms);
  }
  return came_;
}

}  // namespace mayfly::cli
