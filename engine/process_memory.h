// How much memory this process may have, and has; and how it gives some back.
#pragma once

#include <cstdint>

namespace mayfly::engine {

// The least of what the machine has, what its control group may have (cgroup v2) and what its addresses may
// span (RLIMIT_AS).
std::uint64_t process_memory_bytes();

// Resident memory of the process, without mapped files. Freed memory counts until it is returned to the
// system. 0 if the system does not say. Takes some microseconds.
std::uint64_t resident_memory_bytes();

// Unmaps the pages of the program's code and constants, which are no longer resident until they are used
// again. Does nothing while a debugger is attached: its breakpoints are in these pages. Takes some
// microseconds.
//
// Pages return from the page cache, one by one or, where Linux keeps the file in large folios (6.18), all of
// a folio: of 13.6 MB that a server had after its start, 1.7 to 10.8 remained.
void give_back_code();

}  // namespace mayfly::engine
