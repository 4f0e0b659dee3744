// The signals that end a process: SIGTERM and SIGINT. On Windows: Ctrl-C, Ctrl-Break, and the events of a
// closed console, a logoff and a shutdown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace mayfly::os {

enum class EndSignal : std::uint8_t { terminate = 1, interrupt };

// "SIGTERM" or "SIGINT".
const char* name_of(EndSignal signal);

// Receives the signals on a separate thread, so they do not interrupt the system calls of other threads.
//
// The constructor blocks the signals in the calling thread, and so in all threads that it starts later. Call
// it on the main thread, before any other thread exists.
// Rejected: sigtimedwait and signalfd, which macOS lacks, and a handler, which would run on an arbitrary
// thread.
class EndSignalListener {
 public:
  // `arrived` is called on the listener's thread, once for each signal. Throws std::system_error if no thread
  // can be started.
  explicit EndSignalListener(std::function<void(EndSignal)> arrived);
  ~EndSignalListener();
  EndSignalListener(const EndSignalListener&) = delete;
  EndSignalListener& operator=(const EndSignalListener&) = delete;

  // Ends the process as the signal does by default. Requires: it is called by `arrived`.
  static void end_by(EndSignal signal);

 private:
  class State;
  const std::unique_ptr<State> state_;
};

// Blocks all signals during its lifetime, because new threads inherit the signal mask of their creator.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  struct Before;
  const std::unique_ptr<Before> before_;
};

}  // namespace mayfly::os
