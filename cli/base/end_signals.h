// Receives the signals that end a command, SIGTERM and SIGINT. The command can check for them, and wait for
// them alone or together with its input.
//
//   const EndSignals signals;                        // on the main thread, before it starts other threads
//   signals.wait();                                  // until SIGTERM or SIGINT arrives
//   if (!signals.wait(200ms)) …                      // no signal has arrived yet
//   os::read_standard_input(piece, signals.event())  // until input or a signal arrives
//
// A command exits within a second of the first signal, whatever it is waiting for: a name lookup, a pipe
// without a writer, an endpoint that does not answer. The command has `late_after` to end on its own. After
// that time, the function `Late` is called.
//
// The constructor blocks the signals in the calling thread, and so in all threads that the calling thread
// starts later (os/signals.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "cli/base/deadline.h"
#include "os/event.h"
#include "os/signals.h"

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
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Returns the first signal that arrived; nullopt if no signal has arrived.
  [[nodiscard]] std::optional<os::EndSignal> came() const;
  // Waits for a signal for at most `time` (nullopt: no limit). Returns the same as came(). Thread-safe.
  std::optional<os::EndSignal> wait(std::optional<std::chrono::milliseconds> time = {}) const;
  // A stop is requested when the first signal arrives.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // The event is set when the first signal arrives.
  [[nodiscard]] const os::Event& event() const { return event_; }

 private:
  void take(os::EndSignal signal);
  void begin_to_be_late();

  const Another another_;
  const Late late_;
  const std::stop_source stop_;
  os::Event event_;
  std::atomic<os::EndSignal> came_{};  // 0: none
  std::optional<Deadline> deadline_;   // set by the listener's thread
  const os::EndSignalListener listener_{[this](os::EndSignal signal) { take(signal); }};
};

}  // namespace mayfly::cli
