// The memory limit and the memory use of this process, and ways to return memory to the system.
#pragma once

#include <cstdint>

namespace mayfly::os {

// Returns the smallest of the machine's memory, the limits of the process's control groups (cgroup v2) and
// the limit of its address space (RLIMIT_AS). Windows: of the machine's memory and the limits of the
// process's job.
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

// Makes glibc return freed memory to the system. By default, once a large buffer (of up to 32 MB) has been
// freed, glibc keeps freed buffers of up to that size. It also creates up to eight arenas per processor, each
// of which keeps the memory freed in it.
//
// Measured with 128 event-stream clients that do not read, and three changes of 5 MB each: by default, the
// process used 127 MB and kept this memory. With these settings, the process used 77 MB, and returned all but
// 38 MB afterwards. Large answers cost less: a Scan page of 1 MB takes 0.7 ms of processor time instead of
// 1.0. A limit of 1 MB for the buffers that glibc keeps was rejected, because with that limit a BatchGetItem
// of 2 MB took a fifth longer than with glibc's default settings.
void return_freed_memory();

// Returns the freed memory that the allocator still keeps, if it can.
void trim_freed_memory();

}  // namespace mayfly::os
