#include "os/file.h"

#include <algorithm>
#include <limits>

#include "os/windows/api.h"
#include "os/windows/facts.h"
// After windows.h.
#include <aclapi.h>

namespace mayfly::os {
namespace {

using windows::last_error;
using windows::with_patience;

// Locks are on a byte that no file has, because Windows' locks would otherwise also keep others from reading.
constexpr DWORD locked_byte_high = 0x40000000;

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED where{};
  where.Offset = static_cast<DWORD>(offset);
  where.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return where;
}

DWORD piece_of(std::size_t bytes) {
  return static_cast<DWORD>(std::min<std::size_t>(bytes, std::numeric_limits<DWORD>::max() / 2));
}

File to_rename_or_remove(const std::string& path, std::error_code& error) {
  const std::wstring name = windows::wide_path(path);
  File file;
  with_patience(error, [&] {
    file = File(::CreateFileW(name.c_str(), DELETE | SYNCHRONIZE | FILE_READ_ATTRIBUTES,
                              windows::shared_with_all, nullptr, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    return file.is_open();
  });
  return file;
}

}  // namespace

File::~File() {
  if (is_open()) ::CloseHandle(native_);
}

File File::open(const std::string& path, HowToOpen how, std::error_code& error) {
  File file;
  const std::wstring name = windows::wide_path(path);
  const DWORD making = how.make == Make::never        ? OPEN_EXISTING
                       : how.make == Make::if_missing ? OPEN_ALWAYS
                                                      : CREATE_NEW;
  const DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS |
                      (how.follows_links ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  with_patience(error, [&] {
    file.native_ =
        ::CreateFileW(name.c_str(), windows::access_of(how.access), windows::shared_with_all,
                      how.is_private ? windows::owner_only().attributes() : nullptr, making, flags, nullptr);
    return file.is_open();
  });
  if (!error && !how.follows_links) windows::refuse_link(file, error);
  if (!error && how.access != Access::read && file.facts(error).kind == Kind::directory) {
    file = File();
    error = std::make_error_code(std::errc::is_a_directory);
  }
  return file;
}

Facts File::facts(std::error_code& error) const { return windows::facts_of(native_, error); }

std::size_t File::read(std::span<char> to, std::error_code& error) const {
  DWORD got = 0;
  const bool is_read = ::ReadFile(native_, to.data(), piece_of(to.size()), &got, nullptr);
  error = is_read ? std::error_code() : last_error();
  if (error == std::errc::broken_pipe) error.clear();  // the other end of a pipe is closed
  return got;
}

std::size_t File::read_at(std::uint64_t offset, std::span<char> to, std::error_code& error) const {
  // Reading with an offset moves the position, unlike pread().
  const LARGE_INTEGER none{};
  LARGE_INTEGER before{};
  ::SetFilePointerEx(native_, none, &before, FILE_CURRENT);
  std::size_t filled = 0;
  error.clear();
  while (filled < to.size()) {
    OVERLAPPED where = at(offset + filled);
    DWORD got = 0;
    if (!::ReadFile(native_, to.data() + filled, piece_of(to.size() - filled), &got, &where)) {
      if (::GetLastError() != ERROR_HANDLE_EOF) error = last_error();
      break;
    }
    if (got == 0) break;
    filled += got;
  }
  ::SetFilePointerEx(native_, before, nullptr, FILE_BEGIN);
  return filled;
}

void File::rewind(std::error_code& error) const {
  error = ::SetFilePointerEx(native_, {}, nullptr, FILE_BEGIN) ? std::error_code() : last_error();
}

void File::write(std::string_view bytes, std::error_code& error) const {
  error.clear();
  while (!bytes.empty()) {
    DWORD put = 0;
    if (!::WriteFile(native_, bytes.data(), piece_of(bytes.size()), &put, nullptr)) {
      error = last_error();
      return;
    }
    bytes.remove_prefix(put);
  }
}

void File::truncate(std::uint64_t bytes, std::error_code& error) const {
  // A handle that appends may not change the length of the file.
  const File writes(::ReOpenFile(native_, FILE_GENERIC_WRITE, windows::shared_with_all, 0));
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const bool is_cut =
      writes.is_open() && ::SetFileInformationByHandle(writes.native_, FileEndOfFileInfo, &end, sizeof end);
  error = is_cut ? std::error_code() : last_error();
}

void File::sync(std::error_code& error) const {
  // FlushFileBuffers() would wait until the reader of a pipe has read everything.
  if (::GetFileType(native_) != FILE_TYPE_DISK) {
    error = std::make_error_code(std::errc::invalid_argument);
    return;
  }
  error = ::FlushFileBuffers(native_) ? std::error_code() : last_error();
}

void File::restrict_to_owner(std::error_code& error) const {
  const File changes(
      ::ReOpenFile(native_, READ_CONTROL | WRITE_DAC, windows::shared_with_all, FILE_FLAG_BACKUP_SEMANTICS));
  if (!changes.is_open()) {
    error = last_error();
    return;
  }
  ACL* const list = windows::owner_only().list();
  if (list == nullptr) {
    error = std::make_error_code(std::errc::permission_denied);
    return;
  }
  error = windows::error_of(::SetSecurityInfo(changes.native_, SE_FILE_OBJECT,
                                              DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                                              nullptr, nullptr, list, nullptr));
}

void File::lock(Lock lock, bool waits, std::error_code& error) const {
  OVERLAPPED where{};
  where.OffsetHigh = locked_byte_high;
  const DWORD flags =
      (lock == Lock::exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0) | (waits ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
  error = ::LockFileEx(native_, flags, 0, 1, 0, &where) ? std::error_code() : last_error();
}

void File::close(std::error_code& error) {
  error = ::CloseHandle(std::exchange(native_, closed)) ? std::error_code() : last_error();
}

Facts facts_of(const std::string& path, bool follows_links, std::error_code& error) {
  const std::wstring name = windows::wide_path(path);
  const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (follows_links ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  const File file(::CreateFileW(name.c_str(), FILE_READ_ATTRIBUTES, windows::shared_with_all, nullptr,
                                OPEN_EXISTING, flags, nullptr));
  if (file.is_open()) return windows::facts_of(file.native(), error);
  error = last_error();
  return {};
}

void make_directory(const std::string& path, std::error_code& error) {
  const bool made = ::CreateDirectoryW(windows::wide_path(path).c_str(), windows::owner_only().attributes());
  error = made || ::GetLastError() == ERROR_ALREADY_EXISTS ? std::error_code() : last_error();
}

void rename(const std::string& from, const std::string& to, std::error_code& error) {
  const File file = to_rename_or_remove(from, error);
  if (!error) windows::move(file.native(), nullptr, windows::kernel_path(to), true, error);
}

void rename_to_new(const std::string& from, const std::string& to, std::error_code& error) {
  const File file = to_rename_or_remove(from, error);
  if (!error) windows::move(file.native(), nullptr, windows::kernel_path(to), false, error);
}

void remove(const std::string& path, std::error_code& error) {
  const File file = to_rename_or_remove(path, error);
  if (!error && file.facts(error).kind == Kind::directory)
    error = std::make_error_code(std::errc::is_a_directory);
  if (!error) windows::remove(file.native(), error);
}

}  // namespace mayfly::os
