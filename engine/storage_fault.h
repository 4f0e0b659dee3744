// What reading and writing throw when the disk is full, a file is damaged, …: nothing that the client did.
// Who catches it: engine/attempt.h.
#pragma once

#include <stdexcept>

namespace mayfly::engine {

class StorageFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mayfly::engine
