// What reading and writing throw when the disk is full, a file is damaged, …: nothing that the client did.
// Who catches it: engine/attempt.h.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "engine/expected.h"

namespace mayfly::engine {

class StorageFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What was decoded; a fault, if it is not there to be decoded. `what`: "a table's description".
template <class T>
T decoded(Expected<T, std::string> result, const char* what) {
  if (!result) throw StorageFault(std::string(what) + " cannot be decoded: " + result.error());
  return *std::move(result);
}

}  // namespace mayfly::engine
