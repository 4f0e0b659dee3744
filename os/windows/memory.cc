#include "os/memory.h"

#include <algorithm>
#include <limits>

#include "os/windows/api.h"
// After windows.h.
#include <malloc.h>
#include <psapi.h>

namespace mayfly::os {
namespace {

// The limit of the job that the process is in, such as a container.
std::uint64_t job_bytes() {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (!::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &limits, sizeof limits,
                                   nullptr))
    return any;
  const DWORD flags = limits.BasicLimitInformation.LimitFlags;
  return std::min((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0 ? limits.ProcessMemoryLimit : any,
                  (flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0 ? limits.JobMemoryLimit : any);
}

}  // namespace

std::uint64_t process_memory_bytes() {
  MEMORYSTATUSEX machine{};
  machine.dwLength = sizeof machine;
  if (!::GlobalMemoryStatusEx(&machine)) return job_bytes();
  return std::min(machine.ullTotalPhys, job_bytes());
}

// Not every version of Windows reports how many of the process's private bytes are in memory. There are at
// most as many as all private bytes, and as all bytes in memory.
std::uint64_t resident_memory_bytes() {
  PROCESS_MEMORY_COUNTERS_EX used{};
  if (!::GetProcessMemoryInfo(::GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&used),
                              sizeof used))
    return 0;
  return used.PrivateUsage == 0 ? used.WorkingSetSize  // Wine does not report private bytes
                                : std::min<std::uint64_t>(used.PrivateUsage, used.WorkingSetSize);
}

void give_back_code() {}
void return_freed_memory() {}
void trim_freed_memory() { ::_heapmin(); }

}  // namespace mayfly::os
