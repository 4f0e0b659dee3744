// Definitions that only libmayfly.so contains. They replace variables and functions of glibc, so that the
// library can be linked from a program's object files, be used in a process that forks, and run with a glibc
// that is older than the one it was linked with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/single_threaded.h>
#include <unistd.h>

// glibc's variable of this name tells whether the process has only one thread. A program's object files can
// access it only in the binary that they are linked into, so the library defines its own. It is always 0,
// which means that other threads may exist, so shared_ptr counts are always atomic.
char __libc_single_threaded = 0;  // NOLINT(*-reserved-identifier)

// Replaces __cxa_atexit (--wrap) so that static objects in the library, above all RocksDB's timer, are never
// destroyed. Otherwise a forked process would wait at its exit forever for threads that only its parent has.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(*-reserved-identifier)
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }

// c-ares and Expat use these functions if glibc has them (2.36 and later). With these definitions, the
// library also runs with older versions of glibc.
extern "C" void arc4random_buf(void* to, std::size_t bytes) {
  constexpr std::size_t bytes_at_once_max = 256;  // getentropy's limit
  for (auto* at = static_cast<unsigned char*>(to); bytes > 0;) {
    const std::size_t now = std::min(bytes, bytes_at_once_max);
    if (getentropy(at, now) != 0) std::abort();
    at += now;
    bytes -= now;
  }
}
extern "C" std::uint32_t arc4random() {
  std::uint32_t drawn = 0;
  arc4random_buf(&drawn, sizeof drawn);
  return drawn;
}
