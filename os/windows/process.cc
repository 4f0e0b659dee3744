#include "os/process.h"

#include <cstdlib>
#include <memory>

#include "os/file.h"
#include "os/windows/api.h"
// After windows.h.
#include <shellapi.h>
#include <tlhelp32.h>

namespace mayfly::os {
namespace {

constexpr UINT killed_status = 143;  // as after SIGTERM

HANDLE end_timer = nullptr;

DWORD parent_of_process() {
  const File snapshot(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  const DWORD self = ::GetCurrentProcessId();
  for (BOOL more = ::Process32FirstW(snapshot.native(), &entry); more;
       more = ::Process32NextW(snapshot.native(), &entry))
    if (entry.th32ProcessID == self) return entry.th32ParentProcessID;
  return 0;
}

}  // namespace

std::uint64_t process_id() { return ::GetCurrentProcessId(); }

std::string host_name() {
  wchar_t name[256];
  DWORD size = sizeof name / sizeof *name;
  return ::GetComputerNameExW(ComputerNameDnsHostname, name, &size) ? windows::narrow({name, size}) : "";
}

// Keeps a handle, because Windows uses process ids again. A parent that this process may not watch, such as
// one that runs as an administrator, never counts as exited.
Parent::Parent() {
  HANDLE process = ::OpenProcess(SYNCHRONIZE, FALSE, parent_of_process());
  if (process == nullptr && ::GetLastError() == ERROR_ACCESS_DENIED) process = INVALID_HANDLE_VALUE;
  id_ = reinterpret_cast<std::uint64_t>(process);
}

bool Parent::has_exited() const {
  HANDLE const process = reinterpret_cast<HANDLE>(id_);
  return process == nullptr ||
         (process != INVALID_HANDLE_VALUE && ::WaitForSingleObject(process, 0) == WAIT_OBJECT_0);
}

std::vector<std::string> arguments(int /*count*/, char** /*values*/) {
  std::vector<std::string> arguments;
  int count = 0;
  const std::unique_ptr<wchar_t*, decltype(&::LocalFree)> all(
      ::CommandLineToArgvW(::GetCommandLineW(), &count), &::LocalFree);
  for (int i = 0; i < count; ++i) arguments.push_back(windows::narrow(all.get()[i]));
  return arguments;
}

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  const std::unique_ptr<wchar_t, decltype(&::FreeEnvironmentStringsW)> all(::GetEnvironmentStringsW(),
                                                                           &::FreeEnvironmentStringsW);
  for (const wchar_t* at = all.get(); at != nullptr && *at != 0; at += std::wstring_view(at).size() + 1)
    if (*at != L'=')
      variables.push_back(windows::narrow(at));  // Windows keeps each drive's directory as "=C:"
  return variables;
}

// Windows limits handles only by memory.
void raise_open_files_max() {}
std::uint64_t open_files_max() { return std::uint64_t{1} << 24; }

// Windows has no signals for failed writes.
void let_writes_fail() {}

void at_exit(void (*run)()) { std::atexit(run); }

void exit_now(int status) {
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status));
  std::abort();
}

void end_after(std::chrono::seconds time) {
  cancel_end();
  const auto ends = [](void*, BOOLEAN) { ::TerminateProcess(::GetCurrentProcess(), killed_status); };
  const DWORD due_ms = static_cast<DWORD>(time.count() * 1000);
  ::CreateTimerQueueTimer(&end_timer, nullptr, ends, nullptr, due_ms, 0, WT_EXECUTEONLYONCE);
}

void cancel_end() {
  if (end_timer != nullptr) ::DeleteTimerQueueTimer(nullptr, end_timer, nullptr);
  end_timer = nullptr;
}

}  // namespace mayfly::os
