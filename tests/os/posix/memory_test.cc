#include "os/memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#include <span>
#endif

namespace mayfly::testing {

TEST_CASE(
    "the memory that a process may use is at most the machine's memory and the limit of its addresses") {
  const auto machine = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  CHECK(os::process_memory_bytes() <= machine);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit less{std::min<rlim_t>(before.rlim_cur, rlim_t{1} << 45), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  CHECK(os::process_memory_bytes() <= less.rlim_cur);
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
}

#if defined(__linux__)
TEST_CASE("program code that is given back to the kernel is no longer resident in memory") {
  // Reads the resident size of mapped files in kB.
  const auto resident_kb = [] {
    std::ifstream file("/proc/self/status");
    std::string word;
    std::uint64_t kb = 0;
    while (file >> word && word != "RssFile:") {}
    file >> kb;
    return kb;
  };
  const auto read_code = [](dl_phdr_info* program, std::size_t, void*) {
    int sum = 0;
    for (const ElfW(Phdr) & part : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      const auto* code = reinterpret_cast<const volatile char*>(program->dlpi_addr + part.p_vaddr);
      for (std::size_t byte = 0; byte < part.p_memsz; byte += 4096) sum += code[byte];
    }
    return sum == 0 ? 1 : sum;  // not 0, so that the walk ends at the first object, the program itself
  };
  CHECK(dl_iterate_phdr(read_code, nullptr) != 0);
  const std::uint64_t before = resident_kb();
  os::give_back_code();
  const std::uint64_t after = resident_kb();
  INFO(before << " kB before, " << after << " kB after");
  CHECK(after < before);  // the difference depends on the kernel and on the sanitizer
}
#endif

}  // namespace mayfly::testing
