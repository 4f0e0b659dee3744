// The signals that end a command, SIGTERM and SIGINT, as something to look at, to wait for, and to poll.
//
//   const EndSignals signals;                        // in main's thread, before it starts any other
//   signals.wait();                                  // until one comes: SIGTERM or SIGINT
//   if (signals.wait(200ms) == 0) …                  // none yet
//   pollfd ready[] = {{0, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
//
// A command ends within a second of the first signal, whatever it waits for: a name's look-up, a pipe without
// a writer, an endpoint that does not answer. It has `late_after` to end on its own; then `Late` decides.
//
// They are blocked in the thread that makes this and in those that it starts from then on: one of its own
// takes them, so that nobody else's call is interrupted by one. Rejected: sigtimedwait and signalfd, which
// macOS has not, and a handler, which whatever thread it comes to runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <signal.h>
#include <stop_token>
#include <thread>

#include "cli/deadline.h"

namespace mayfly::http {

class EndSignals {
 public:
  // What another does when one has come.
  enum class Another : std::uint8_t { is_ignored, ends_the_process };

  // Called, on another thread, if this object still exists `late_after` after the first signal. Returns the
  // exit status with which the process ends at once, or nothing, and the process goes on.
  using Late = std::function<std::optional<int>()>;
  static constexpr std::chrono::milliseconds late_after{900};

  // Throws std::system_error if no thread can be started or no pipe can be opened.
  explicit EndSignals(Another another = Another::is_ignored, Late late = {});
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The first that came; 0: none has.
  [[nodiscard]] int came() const { return came_; }
  // The same, after up to `time`; without one: after as long as it takes. Any thread may.
  int wait(std::optional<std::chrono::milliseconds> time = {}) const;
  // A stop is requested when the first one arrives.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // Can be read from when one has come, and nobody reads it.
  [[nodiscard]] int descriptor() const { return pipe_[0]; }

 private:
  void take();
  void begin_to_be_late();

  const Another another_;
  const Late late_;
  const std::stop_source stop_;
  sigset_t signals_{}, before_{};
  int pipe_[2] = {-1, -1};
  std::atomic<int> came_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
  std::optional<Deadline> deadline_;  // set by thread_
};

}  // namespace mayfly::http
