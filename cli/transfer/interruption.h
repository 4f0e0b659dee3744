// Whether somebody wants this to end: SIGINT, SIGTERM, or a worker that failed while others go on.
//
//   Interruption interruption;                       // one in a process; takes the signals from now on
//   while (!interruption.is_wanted()) copy_a_page();
//   if (!interruption.pause(200ms)) …                // false: it was cut short
//
// The second signal ends the process at once, as it would without this.
#pragma once

#include <atomic>
#include <chrono>

namespace mayfly::transfer {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] bool is_wanted() const;
  [[nodiscard]] bool by_signal() const;
  void want() { wanted_ = true; }
  bool pause(std::chrono::milliseconds time) const;

 private:
  std::atomic<bool> wanted_ = false;
};

}  // namespace mayfly::transfer
