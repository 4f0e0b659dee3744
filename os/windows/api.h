// The Windows API, and helpers of the implementations for Windows.
#pragma once

#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <windows.h>
#include <winternl.h>

namespace mayfly::os::windows {

// Returns the std::errc for an error number of Windows, or io_error if no other value fits.
std::error_code error_of(DWORD number);
inline std::error_code last_error() { return error_of(::GetLastError()); }
std::error_code error_of_status(NTSTATUS status);

// Text as UTF-16. Invalid UTF-8 becomes U+FFFD.
std::wstring wide(std::string_view text);
std::string narrow(std::wstring_view text);

// A path as Windows' functions take it. A path that is too long for them becomes absolute and gets the prefix
// \\?\, or \\?\UNC\ if it names a server.
std::wstring wide_path(const std::string& path);

// An absolute path as the functions of the kernel take it.
std::wstring kernel_path(const std::string& path);

// Tries again for a short time while another program, such as a virus scanner, has the file open.
template <class Try>
void with_patience(std::error_code& error, Try attempt) {
  constexpr int tries_max = 20;
  constexpr DWORD pause_ms = 25;
  for (int tries = 1;; ++tries) {
    if (attempt()) return error.clear();
    const DWORD number = ::GetLastError();
    error = error_of(number);
    const bool is_held = number == ERROR_SHARING_VIOLATION || number == ERROR_LOCK_VIOLATION;
    if (!is_held || tries == tries_max) return;
    ::Sleep(pause_ms);
  }
}

// Moves an open file to a name in a directory. Files with the old and the new name can be open.
void move(HANDLE file, HANDLE directory, const std::wstring& name, bool replaces, std::error_code& error);

// Deletes an open file. Its name is free at once, if the file system can do that.
void remove(HANDLE file, std::error_code& error);

// The security of new files and directories that only their owner can access.
class OwnerOnly {
 public:
  OwnerOnly();
  // nullptr if the current user cannot be determined. Files then get the access of their directory.
  [[nodiscard]] SECURITY_ATTRIBUTES* attributes() { return is_known_ ? &attributes_ : nullptr; }
  [[nodiscard]] ACL* list() { return is_known_ ? reinterpret_cast<ACL*>(list_) : nullptr; }

 private:
  alignas(ACL) char list_[256]{};
  SECURITY_DESCRIPTOR descriptor_{};
  SECURITY_ATTRIBUTES attributes_{};
  bool is_known_ = false;
};
OwnerOnly& owner_only();

}  // namespace mayfly::os::windows
