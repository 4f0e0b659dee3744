#include "os/directory.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>
#include <vector>

#include "os/windows/api.h"
#include "os/windows/facts.h"

namespace mayfly::os {
namespace {

using windows::error_of_status;
using windows::last_error;

constexpr ULONG never_waits =
    FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT;
constexpr DWORD directory_access = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;

// Opens an entry of a directory, without following a link. The Win32 functions cannot open relative to a
// directory.
File open_within(HANDLE directory, const std::string& name, DWORD access, ULONG making, ULONG options,
                 bool is_private, std::error_code& error) {
  std::wstring text = name == "." ? std::wstring() : windows::wide(name);
  if (text.size() > std::numeric_limits<USHORT>::max() / sizeof(wchar_t)) {
    error = std::make_error_code(std::errc::filename_too_long);
    return {};
  }
  UNICODE_STRING counted{};
  counted.Buffer = text.data();
  counted.Length = counted.MaximumLength = static_cast<USHORT>(text.size() * sizeof(wchar_t));
  OBJECT_ATTRIBUTES object{};
  InitializeObjectAttributes(&object, &counted, OBJ_CASE_INSENSITIVE, directory, nullptr);
  if (is_private && windows::owner_only().attributes() != nullptr)
    object.SecurityDescriptor = windows::owner_only().attributes()->lpSecurityDescriptor;
  IO_STATUS_BLOCK outcome{};
  HANDLE handle = INVALID_HANDLE_VALUE;
  NTSTATUS status = 0;
  windows::with_patience(error, [&] {
    status = ::NtCreateFile(&handle, access | SYNCHRONIZE, &object, &outcome, nullptr, FILE_ATTRIBUTE_NORMAL,
                            windows::shared_with_all, making, options | never_waits, nullptr, 0);
    if (status < 0) ::SetLastError(::RtlNtStatusToDosError(status));
    return status >= 0;
  });
  error = error_of_status(status);
  return error ? File() : File(handle);
}

// Reserved in every directory, with any extension.
bool is_device(std::string_view name) {
  std::string stem(name.substr(0, name.find('.')));
  while (stem.ends_with(' ')) stem.pop_back();
  std::ranges::transform(stem, stem.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  constexpr std::array<std::string_view, 6> plain = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
  if (std::ranges::find(plain, stem) != plain.end()) return true;
  return stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")) && stem[3] >= '0' &&
         stem[3] <= '9';
}

}  // namespace

Directory Directory::open(const std::string& path, std::error_code& error) {
  Directory directory(
      File(::CreateFileW(windows::wide_path(path).c_str(), directory_access, windows::shared_with_all,
                         nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr)));
  error = directory.is_open() ? std::error_code() : last_error();
  if (!error && directory.file_.facts(error).kind != Kind::directory && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  return error ? Directory() : std::move(directory);
}

Directory Directory::open_below(const std::string& name, std::error_code& error) const {
  File below =
      open_within(file_.native(), name, directory_access, FILE_OPEN, FILE_DIRECTORY_FILE, false, error);
  if (!error) windows::refuse_link(below, error);
  return Directory(std::move(below));
}

File Directory::open_file(const std::string& name, HowToOpen how, std::error_code& error) const {
  const ULONG making = how.make == Make::never        ? FILE_OPEN
                       : how.make == Make::if_missing ? FILE_OPEN_IF
                                                      : FILE_CREATE;
  const ULONG options = how.access == Access::read ? 0 : FILE_NON_DIRECTORY_FILE;
  File file = open_within(file_.native(), name, windows::access_of(how.access), making, options,
                          how.is_private, error);
  if (!error) windows::refuse_link(file, error);
  return file;
}

Facts Directory::facts_of(const std::string& name, std::error_code& error) const {
  const File file = open_within(file_.native(), name, FILE_READ_ATTRIBUTES, FILE_OPEN, 0, false, error);
  return error ? Facts() : file.facts(error);
}

std::vector<Entry> Directory::entries(std::error_code& error) const {
  std::vector<Entry> entries;
  // Opened again, because a handle remembers how far it was listed.
  const File listed =
      open_within(file_.native(), ".", directory_access, FILE_OPEN, FILE_DIRECTORY_FILE, false, error);
  if (error) return entries;
  alignas(FILE_ID_BOTH_DIR_INFO) std::array<char, 64 * 1024> piece;
  while (
      ::GetFileInformationByHandleEx(listed.native(), FileIdBothDirectoryInfo, piece.data(), piece.size())) {
    for (const char* at = piece.data();;) {
      FILE_ID_BOTH_DIR_INFO one;
      std::memcpy(&one, at, sizeof one);
      std::wstring name(one.FileNameLength / sizeof(wchar_t), 0);
      std::memcpy(name.data(), at + offsetof(FILE_ID_BOTH_DIR_INFO, FileName), one.FileNameLength);
      const bool is_link = (one.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
      const bool is_directory = (one.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
      if (std::string text = windows::narrow(name); text != "." && text != "..")
        entries.push_back({std::move(text), is_link        ? Kind::link
                                            : is_directory ? Kind::directory
                                                           : Kind::file});
      if (one.NextEntryOffset == 0) break;
      at += one.NextEntryOffset;
    }
  }
  if (::GetLastError() != ERROR_NO_MORE_FILES) error = last_error();
  return entries;
}

void Directory::make_directory(const std::string& name, std::error_code& error) const {
  (void)open_within(file_.native(), name, directory_access, FILE_OPEN_IF, FILE_DIRECTORY_FILE, true, error);
  // A file or a link of that name is reported when it is opened.
  if (error == std::errc::not_a_directory || error == std::errc::file_exists) error.clear();
}

void Directory::rename(const std::string& from, const std::string& to, std::error_code& error) const {
  const File file =
      open_within(file_.native(), from, DELETE | FILE_READ_ATTRIBUTES, FILE_OPEN, 0, false, error);
  if (error) return;
  windows::move(file.native(), file_.native(), windows::wide(to), true, error);
}

void Directory::remove(const std::string& name, std::error_code& error) const {
  const File file =
      open_within(file_.native(), name, DELETE, FILE_OPEN, FILE_NON_DIRECTORY_FILE, false, error);
  if (error) return;
  windows::remove(file.native(), error);
}

void Directory::restrict_to_owner(std::error_code& error) const { file_.restrict_to_owner(error); }

bool names_nothing(std::string_view part) {
  if (part.empty() || part.ends_with('.') || part.ends_with(' ')) return true;
  const auto is_reserved = [](unsigned char c) {
    return c < 32 || std::string_view("<>:\"/\\|?*").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return std::ranges::any_of(part, is_reserved) || is_device(part);
}

}  // namespace mayfly::os
