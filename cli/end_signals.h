// The signals that end a command, SIGTERM and SIGINT, as something to look at, to wait for, and to poll.
//
//   const EndSignals signals;                        // in main's thread, before it starts any other
//   signals.wait();                                  // until one comes: SIGTERM or SIGINT
//   if (signals.wait(200ms) == 0) …                  // none yet
//   pollfd ready[] = {{0, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
//
// They are blocked in the thread that makes this and in those that it starts from then on: one of its own
// takes them, so that nobody else's call is interrupted by one. Rejected: sigtimedwait and signalfd, which
// macOS has not, and a handler, which whatever thread it comes to runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <thread>

namespace mayfly::http {

class EndSignals {
 public:
  // What another does when one has come.
  enum class Another : std::uint8_t { is_ignored, ends_the_process };

  // Throws std::system_error if there is no thread, or no pipe, to be had.
  explicit EndSignals(Another another = Another::is_ignored);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The first that came; 0: none has.
  [[nodiscard]] int came() const { return came_; }
  // The same, after up to `time`; without one: after as long as it takes. Any thread may.
  int wait(std::optional<std::chrono::milliseconds> time = {}) const;
  // Can be read from when one has come, and nobody reads it.
  [[nodiscard]] int descriptor() const { return pipe_[0]; }

 private:
  void take();

  const Another another_;
  sigset_t signals_{}, before_{};
  int pipe_[2] = {-1, -1};
  std::atomic<int> came_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace mayfly::http
