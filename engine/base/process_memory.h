// The memory limit and the memory use of this process, and a function that returns some memory to the system.
#pragma once

#include <cstdint>

namespace mayfly::engine {

// Returns the smallest of the machine's memory, the limits of the process's control groups (cgroup v2) and
// the limit of its address space (RLIMIT_AS).
std::uint64_t process_memory_bytes();

// Returns the resident memory of the process, without mapped files; 0 if the system does not report it. Freed
// memory counts until it is returned to the system. A call takes a few microseconds.
std::uint64_t resident_memory_bytes();

// Unmaps the pages of the program's code and constants, which are then not resident until they are used
// again. Does nothing while a debugger is attached, because the debugger's breakpoints are in these pages. A
// call takes a few microseconds.
//
// A page that is used again is mapped from the page cache. If Linux caches the file in large folios (as
// version 6.18 does), it maps the rest of the folio as well. A server that had just started had 13.6 MB of
// such pages, of which 1.7 to 10.8 MB remained resident after a call.
void give_back_code();

}  // namespace mayfly::engine
