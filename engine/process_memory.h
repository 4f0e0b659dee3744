// How much memory this process may have.
#pragma once

#include <cstdint>

namespace mayfly::engine {

// The least of what the machine has, what its control group may have (cgroup v2) and what its addresses may
// span (RLIMIT_AS).
std::uint64_t process_memory_bytes();

}  // namespace mayfly::engine
