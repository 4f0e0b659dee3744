// What libmayfly.so alone has: names that are glibc's elsewhere, so that it can be linked of a program's
// objects, be in a process that forks, and run with an older glibc than it was linked with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/single_threaded.h>
#include <unistd.h>

// glibc's says whether a process has one thread yet, and a program's objects look for it where only a
// program's data can be. This one says no: counts of shared_ptr are counted as if others counted, too.
char __libc_single_threaded = 0;  // NOLINT(*-reserved-identifier)

// In __cxa_atexit's place (--wrap): what is static in the library, RocksDB's timer above all, is never
// destroyed. A process that was forked would wait there for ever, at its exit, for threads that its parent
// has.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(*-reserved-identifier)
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }

// c-ares and Expat take these of glibc where it has them, since 2.36. So the library runs where there is an
// older one.
extern "C" void arc4random_buf(void* to, std::size_t bytes) {
  constexpr std::size_t bytes_at_once_max = 256;  // getentropy's
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
