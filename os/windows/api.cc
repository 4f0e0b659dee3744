#include "os/windows/api.h"

#include <aclapi.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace mayfly::os::windows {
namespace {

using std::errc;

constexpr std::size_t short_path_max = 240;  // MAX_PATH less a file name that a function may append

std::unique_ptr<char[]> user_of_process() {
  HANDLE token = nullptr;
  if (!::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token)) return nullptr;
  DWORD bytes = 0;
  ::GetTokenInformation(token, TokenUser, nullptr, 0, &bytes);
  auto user = std::make_unique<char[]>(bytes);
  const bool is_known = ::GetTokenInformation(token, TokenUser, user.get(), bytes, &bytes);
  ::CloseHandle(token);
  return is_known ? std::move(user) : nullptr;
}

}  // namespace

std::error_code error_of(DWORD number) {
  const auto code = [number] {
    switch (number) {
      case ERROR_SUCCESS: return errc();
      case ERROR_FILE_NOT_FOUND:
      case ERROR_PATH_NOT_FOUND:
      case ERROR_INVALID_DRIVE:
      case ERROR_BAD_PATHNAME:
      case ERROR_BAD_NETPATH: return errc::no_such_file_or_directory;
      case ERROR_ACCESS_DENIED:
      case ERROR_PRIVILEGE_NOT_HELD: return errc::permission_denied;
      case ERROR_SHARING_VIOLATION:
      case ERROR_BUSY: return errc::device_or_resource_busy;
      case ERROR_LOCK_VIOLATION:
      case ERROR_IO_PENDING: return errc::resource_unavailable_try_again;
      case ERROR_ALREADY_EXISTS:
      case ERROR_FILE_EXISTS: return errc::file_exists;
      case ERROR_DIRECTORY: return errc::not_a_directory;
      case ERROR_DIR_NOT_EMPTY: return errc::directory_not_empty;
      case ERROR_DISK_FULL:
      case ERROR_HANDLE_DISK_FULL: return errc::no_space_on_device;
      case ERROR_FILENAME_EXCED_RANGE: return errc::filename_too_long;
      case ERROR_INVALID_NAME:
      case ERROR_INVALID_PARAMETER: return errc::invalid_argument;
      case ERROR_TOO_MANY_OPEN_FILES: return errc::too_many_files_open;
      case ERROR_NOT_ENOUGH_MEMORY:
      case ERROR_OUTOFMEMORY: return errc::not_enough_memory;
      case ERROR_INVALID_HANDLE: return errc::bad_file_descriptor;
      case ERROR_WRITE_PROTECT: return errc::read_only_file_system;
      case ERROR_BROKEN_PIPE:
      case ERROR_NO_DATA: return errc::broken_pipe;
      case ERROR_NOT_SAME_DEVICE: return errc::cross_device_link;
      case ERROR_CANT_ACCESS_FILE:
      case ERROR_CANT_RESOLVE_FILENAME:
      case ERROR_STOPPED_ON_SYMLINK: return errc::too_many_symbolic_link_levels;
      case WSAEADDRINUSE: return errc::address_in_use;
      case WSAEADDRNOTAVAIL: return errc::address_not_available;
      case WSAECONNREFUSED: return errc::connection_refused;
      case WSAECONNRESET: return errc::connection_reset;
      case WSAECONNABORTED: return errc::connection_aborted;
      case WSAETIMEDOUT: return errc::timed_out;
      case WSAENETUNREACH: return errc::network_unreachable;
      case WSAEHOSTUNREACH: return errc::host_unreachable;
      case WSAEACCES: return errc::permission_denied;
      default: return errc::io_error;
    }
  }();
  return code == errc() ? std::error_code() : std::make_error_code(code);
}

std::error_code error_of_status(NTSTATUS status) {
  if (status >= 0) return {};
  // Windows' error numbers do not tell a directory from a file that cannot be opened. Its status does.
  constexpr auto file_is_a_directory = static_cast<NTSTATUS>(0xC00000BA);
  if (status == file_is_a_directory) return std::make_error_code(errc::is_a_directory);
  return error_of(::RtlNtStatusToDosError(status));
}

std::wstring wide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring out(static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)),
                   0);
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, out.data(), static_cast<int>(out.size()));
  return out;
}

std::string narrow(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  const int bytes = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(bytes), 0);
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, out.data(), bytes, nullptr, nullptr);
  return out;
}

std::wstring wide_path(const std::string& path) {
  std::wstring given = wide(path);
  if (given.starts_with(L"\\\\?\\")) {
    std::ranges::replace(given, L'/', L'\\');
    return given;
  }
  if (given.size() < short_path_max) return given;
  std::wstring whole(::GetFullPathNameW(given.c_str(), 0, nullptr, nullptr), 0);
  whole.resize(::GetFullPathNameW(given.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr));
  if (whole.empty()) return given;
  if (whole.starts_with(L"\\\\?\\") || whole.starts_with(L"\\\\.\\")) return whole;
  if (whole.starts_with(L"\\\\")) return L"\\\\?\\UNC\\" + whole.substr(2);
  return L"\\\\?\\" + whole;
}

std::wstring kernel_path(const std::string& path) {
  UNICODE_STRING whole{};
  if (!::RtlDosPathNameToNtPathName_U(wide_path(path).c_str(), &whole, nullptr, nullptr)) return {};
  std::wstring text(whole.Buffer, whole.Length / sizeof(wchar_t));
  ::RtlFreeUnicodeString(&whole);
  return text;
}

void move(HANDLE file, HANDLE directory, const std::wstring& name, bool replaces, std::error_code& error) {
  // The names in FILE_INFORMATION_CLASS, which not every version of the header has.
  constexpr int rename = 10, rename_with_flags = 65;
  constexpr DWORD replace_flag = 1, posix_semantics = 2;  // also replaces a file that is open
  const std::size_t name_bytes = name.size() * sizeof(wchar_t);
  std::vector<char> asked(sizeof(FILE_RENAME_INFO) + name_bytes);
  auto* const info = reinterpret_cast<FILE_RENAME_INFO*>(asked.data());
  info->RootDirectory = directory;
  info->FileNameLength = static_cast<DWORD>(name_bytes);
  std::memcpy(info->FileName, name.data(), name_bytes);
  const auto attempt = [&](int how, DWORD flags) {
    IO_STATUS_BLOCK outcome{};
    std::memcpy(info, &flags, sizeof flags);
    const NTSTATUS status = ::NtSetInformationFile(file, &outcome, info, static_cast<ULONG>(asked.size()),
                                                   static_cast<FILE_INFORMATION_CLASS>(how));
    if (status < 0) ::SetLastError(::RtlNtStatusToDosError(status));
    return status >= 0;
  };
  const DWORD flags = replaces ? replace_flag : 0;
  with_patience(error, [&] {
    // File systems other than NTFS, and Wine, know only the older request.
    return attempt(rename_with_flags, flags | posix_semantics) || attempt(rename, flags);
  });
}

void remove(HANDLE file, std::error_code& error) {
  constexpr auto with_flags = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
  constexpr DWORD delete_flag = 1, posix_semantics = 2;
  with_patience(error, [&] {
    // File systems other than NTFS, and Wine, know only the older request.
    DWORD flags = delete_flag | posix_semantics;
    if (::SetFileInformationByHandle(file, with_flags, &flags, sizeof flags)) return true;
    FILE_DISPOSITION_INFO deletes{};
    deletes.DeleteFile = TRUE;
    return ::SetFileInformationByHandle(file, FileDispositionInfo, &deletes, sizeof deletes) != 0;
  });
}

OwnerOnly::OwnerOnly() {
  const auto user = user_of_process();
  if (!user) return;
  auto* const acl = reinterpret_cast<ACL*>(list_);
  PSID const sid = reinterpret_cast<TOKEN_USER*>(user.get())->User.Sid;
  if (!::InitializeAcl(acl, sizeof list_, ACL_REVISION)) return;
  if (!::AddAccessAllowedAceEx(acl, ACL_REVISION, OBJECT_INHERIT_ACE | CONTAINER_INHERIT_ACE, FILE_ALL_ACCESS,
                               sid))
    return;
  if (!::InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION)) return;
  if (!::SetSecurityDescriptorDacl(&descriptor_, TRUE, acl, FALSE)) return;
  ::SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
  is_known_ = true;
}

OwnerOnly& owner_only() {
  static OwnerOnly security;
  return security;
}

}  // namespace mayfly::os::windows
