// How much memory this process may have, and has.
#pragma once

#include <cstdint>

namespace mayfly::engine {

// The least of what the machine has, what its control group may have (cgroup v2) and what its addresses may
// span (RLIMIT_AS).
std::uint64_t process_memory_bytes();

// Resident memory of the process, without mapped files. Freed memory counts until it is returned to the
// system. 0 if the system does not say. Takes some microseconds.
std::uint64_t resident_memory_bytes();

}  // namespace mayfly::engine
