// Helpers of the POSIX implementations.
#pragma once

#include <cerrno>
#include <system_error>

namespace mayfly::os::posix {

inline std::error_code last_error() { return {errno, std::generic_category()}; }

// Calls `step`, which returns a negative number on failure, until no signal interrupts it.
template <class Step>
auto call(std::error_code& error, Step step) {
  auto result = step();
  while (result < 0 && errno == EINTR) result = step();
  error = result < 0 ? last_error() : std::error_code();
  return result;
}

}  // namespace mayfly::os::posix
