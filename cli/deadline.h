// Sees to it that something ends in time, whatever it waits for.
//
//   const Deadline deadline(10s, [] { … });   // called once, on a thread of its own, if 10 s pass before the
//                                             // end of the block
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace mayfly::http {

class Deadline {
 public:
  // Throws std::system_error if no thread can be started.
  Deadline(std::chrono::milliseconds time, std::function<void()> passed);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace mayfly::http
