// Receives the signals that end a command, SIGTERM and SIGINT. The command can check for them, wait for them
// and poll a descriptor.
//
//   const EndSignals signals;                        // on the main thread, before it starts other threads
//   signals.wait();                                  // until SIGTERM or SIGINT arrives
//   if (signals.wait(200ms) == 0) …                  // no signal yet
//   pollfd ready[] = {{0, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
//
// A command exits within a second of the first signal, whatever it is waiting for: a name lookup, a pipe
// without a writer, an endpoint that does not answer. The command has `late_after` to end on its own. After
// that time, the function `Late` is called.
//
// The constructor blocks the signals in the calling thread, and so in all threads that the calling thread
// starts later. A dedicated thread receives them, so they interrupt no other thread's system calls. Rejected:
// sigtimedwait and signalfd, which macOS lacks, and a handler, which would run on an arbitrary thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <signal.h>
#include <stop_token>
#include <thread>

#include "cli/base/deadline.h"

namespace mayfly::cli {

class EndSignals {
 public:
  // The effect of a second signal.
  enum class Another : std::uint8_t { is_ignored, ends_the_process };

  // Called on another thread if this object still exists `late_after` after the first signal. If it returns
  // an exit status, the process exits immediately with that status. If it returns nullopt, the process
  // continues.
  using Late = std::function<std::optional<int>()>;
  static constexpr std::chrono::milliseconds late_after{900};

  // Throws std::system_error if no thread can be started or no pipe can be opened.
  explicit EndSignals(Another another = Another::is_ignored, Late late = {});
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Returns the first signal that arrived, or 0 if no signal has arrived.
  [[nodiscard]] int came() const { return came_; }
  // Waits for a signal for at most `time` (nullopt: no limit). Returns the same as came(). Thread-safe.
  int wait(std::optional<std::chrono::milliseconds> time = {}) const;
  // A stop is requested when the first signal arrives.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // Becomes readable when a signal has arrived, and stays readable, because its data is never read.
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

}  // namespace mayfly::cli
