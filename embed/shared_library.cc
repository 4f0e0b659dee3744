// What libmayfly.so alone has: two names that its linker gives to others, so that it can be linked of a program's objects
// and can be in a process that forks.

#include <sys/single_threaded.h>

// glibc's says whether a process has one thread yet, and a program's objects look for it where only a program's data can
// be. This one says no: counts of shared_ptr are counted as if others counted, too.
char __libc_single_threaded = 0;  // NOLINT(*-reserved-identifier)

// In __cxa_atexit's place (--wrap): what is static in the library, RocksDB's timer above all, is never destroyed. A
// process that was forked would wait there for ever, at its exit, for threads that its parent has.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(*-reserved-identifier)
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }
