// Opens files by handle, and reads their attributes. For the implementations on Windows.
#pragma once

#include "os/file.h"
#include "os/windows/api.h"

namespace mayfly::os::windows {

// Files can be renamed and deleted while they are open, as on POSIX systems.
inline constexpr DWORD shared_with_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

inline DWORD access_of(Access access) {
  switch (access) {
    case Access::read: return FILE_GENERIC_READ;
    case Access::write: return FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES;
    // Without FILE_WRITE_DATA, every write is at the end of the file.
    case Access::append: return (FILE_GENERIC_WRITE & ~FILE_WRITE_DATA) | FILE_READ_ATTRIBUTES;
    case Access::read_and_append: return FILE_GENERIC_READ | (FILE_GENERIC_WRITE & ~FILE_WRITE_DATA);
  }
  return 0;
}

inline Facts facts_of(HANDLE handle, std::error_code& error) {
  if (::GetFileType(handle) != FILE_TYPE_DISK) return error.clear(), Facts();
  BY_HANDLE_FILE_INFORMATION known{};
  error = ::GetFileInformationByHandle(handle, &known) ? std::error_code() : last_error();
  if (error) return {};
  const auto joined = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
  const auto has = [&](DWORD attribute) { return (known.dwFileAttributes & attribute) != 0; };
  const std::uint64_t bytes = joined(known.nFileSizeHigh, known.nFileSizeLow);
  return {.kind = has(FILE_ATTRIBUTE_REPARSE_POINT) ? Kind::link
                  : has(FILE_ATTRIBUTE_DIRECTORY)   ? Kind::directory
                                                    : Kind::file,
          .bytes = bytes,
          .names = known.nNumberOfLinks,
          .version = {known.dwVolumeSerialNumber, joined(known.nFileIndexHigh, known.nFileIndexLow), bytes,
                      known.ftLastWriteTime.dwHighDateTime, known.ftLastWriteTime.dwLowDateTime}};
}

// If `file` is a link, and not the file that the link refers to, closes it and sets `error`.
inline void refuse_link(File& file, std::error_code& error) {
  if (facts_of(file.native(), error).kind != Kind::link) return;
  file = File();
  error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

}  // namespace mayfly::os::windows
