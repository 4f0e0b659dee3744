// Calls a function if a block of code takes too long, no matter what the block waits for.
//
//   const Deadline deadline(10s, [] { … });   // called once, on a separate thread, unless the block ends
//                                             // within 10 s
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace mayfly::cli {

class Deadline {
 public:
  // Throws std::system_error if no thread can be started.
  Deadline(std::chrono::milliseconds time, std::function<void()> passed);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace mayfly::cli
