#include "os/memory.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)
#include <link.h>
#include <sys/mman.h>
#endif
#if defined(__APPLE__)
#include <mach/mach.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace mayfly::os {
namespace {

constexpr auto any = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return any;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::uint64_t address_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return any;
  return limit.rlim_cur;
}

// The line "0::/system.slice/mayfly.service" names the process's control group. The limit of each group,
// from this one up to the root, is in a separate file, which contains a number or "max".
std::uint64_t group_bytes() {
  std::ifstream groups("/proc/self/cgroup");
  std::string group;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) group = line.substr(3);
  std::uint64_t least = any;
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
    std::uint64_t limit = 0;
    if (file >> limit) least = std::min(least, limit);
    const auto slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

#if defined(__linux__)
bool is_debugged() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:")) return line.find_first_of("123456789") != std::string::npos;
  return false;
}
#endif

}  // namespace

std::uint64_t process_memory_bytes() { return std::min({machine_bytes(), address_bytes(), group_bytes()}); }

#if defined(__APPLE__)
// The memory that Activity Monitor shows, which excludes mapped files.
std::uint64_t resident_memory_bytes() {
  task_vm_info_data_t used{};
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  const auto outcome =
      ::task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&used), &count);
  return outcome == KERN_SUCCESS ? used.phys_footprint : 0;
}
#else
std::uint64_t resident_memory_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  unsigned long long pages = 0, resident = 0, of_files = 0;  // the first three fields
  if (std::sscanf(text, "%llu %llu %llu", &pages, &resident, &of_files) != 3 || of_files > resident) return 0;
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return page_bytes <= 0 ? 0 : (resident - of_files) * static_cast<std::uint64_t>(page_bytes);
}
#endif

void give_back_code() {
#if defined(__linux__)
  if (is_debugged()) return;
  const auto give_back = [](dl_phdr_info* program, std::size_t, void*) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (const ElfW(Phdr) & part : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
      if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
      const auto begin = (program->dlpi_addr + part.p_vaddr + page - 1) / page * page;
      const auto end = (program->dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
      if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 1;  // stop after the first entry, which is the program itself
  };
  (void)::dl_iterate_phdr(give_back, nullptr);
#endif
}

void return_freed_memory() {
#if defined(__GLIBC__)
  constexpr int megabyte = 1024 * 1024;
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 4 * megabyte);
  ::mallopt(M_TRIM_THRESHOLD, 8 * megabyte);
#endif
}

void trim_freed_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace mayfly::os
