// The exception that reads and writes throw when storage fails, for example because the disk is full or a
// file is damaged. A client's mistake never causes it. engine/base/attempt.h says where it is caught.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "engine/base/expected.h"

namespace mayfly::engine {

class StorageFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the decoded value, or throws StorageFault if decoding failed. `what` names the value in the
// message, for example "a table's description".
template <class T>
T decoded(Expected<T, std::string> result, const char* what) {
  if (!result) throw StorageFault(std::string(what) + " cannot be decoded: " + result.error());
  return *std::move(result);
}

}  // namespace mayfly::engine
