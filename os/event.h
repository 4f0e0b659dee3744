// An event that a thread can wait for together with a file or a socket. Once set, it stays set.
//
//   Event end;
//   end.set();              // on any thread, or in a signal handler
//   if (end.wait(200ms)) …  // it is set
#pragma once

#include <chrono>
#include <optional>

#include "os/file.h"

namespace mayfly::os {

// Thread-safe.
class Event {
 public:
  Event();  // throws std::system_error: no descriptor is available
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() = default;

  void set();
  // Waits up to `time`, or without limit. Returns whether the event is set.
  [[nodiscard]] bool wait(std::optional<std::chrono::milliseconds> time = {}) const;
  // POSIX: a descriptor that is readable once the event is set. Its data must not be read.
  [[nodiscard]] File::Native native() const { return waits_.native(); }

 private:
  File waits_, sets_;
};

}  // namespace mayfly::os
