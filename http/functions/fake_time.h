// Makes the processes of a function see another time, with libfaketime.
// https://github.com/wolfcw/libfaketime
//
//   FakeTime time(clock);
//   environment = time.variables();
//   const auto ahead = time.set("123456789012");   // before each invocation
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "http/functions/function.h"

namespace mayfly::http {

// The path of the library, or empty if it is not installed. Only on Linux.
std::string fake_time_library();

// Uses a file, which is removed at the end. Does nothing if the clock is the host's.
class FakeTime {
 public:
  explicit FakeTime(const FunctionClock& clock);
  ~FakeTime();
  FakeTime(const FakeTime&) = delete;
  FakeTime& operator=(const FakeTime&) = delete;

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> variables() const;
  // Lets the process see the account's time from now on. Returns by how much it is ahead of the host's.
  std::chrono::milliseconds set(const std::string& account);

 private:
  const FunctionClock& clock_;
  std::string file_;  // empty: there is none
};

}  // namespace mayfly::http
