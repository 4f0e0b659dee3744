#include "engine/process_memory.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/whole_number.h"

namespace mayfly::engine {
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

// "0::/system.slice/mayfly.service" names the group; what it may have, and each group that it is in, stands
// in a file: a number, or "max".
std::uint64_t group_bytes() {
  std::ifstream groups("/proc/self/cgroup");
  std::string group;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) group = line.substr(3);
  std::uint64_t least = any;
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
    std::string text;
    if (file >> text) least = std::min(least, whole_number<std::uint64_t>(text).value_or(any));
    const auto slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

std::uint64_t process_memory_bytes() { return std::min({machine_bytes(), address_bytes(), group_bytes()}); }

std::uint64_t resident_memory_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  unsigned long long pages = 0, resident = 0, of_files = 0;  // and more
  if (std::sscanf(text, "%llu %llu %llu", &pages, &resident, &of_files) != 3 || of_files > resident) return 0;
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return page_bytes <= 0 ? 0 : (resident - of_files) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace mayfly::engine
