// Watches a file that another process locks.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "os/file.h"

namespace mayfly::testing {

// Whether another process holds the lock of a file. Creates the file if it does not exist.
inline bool is_locked(const std::string& path) {
  std::error_code error;
  const os::File file = os::File::open(path, {.make = os::Make::if_missing}, error);
  file.lock(os::Lock::exclusive, false, error);
  return error == std::errc::resource_unavailable_try_again;
}

// Waits up to 20 s until is_locked() returns `locked`. Returns whether it did.
inline bool becomes_locked(const std::string& path, bool locked) {
  for (int tries = 0; tries < 2000; ++tries) {
    if (is_locked(path) == locked) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace mayfly::testing
