#include "engine/storage/data_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace mayfly::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark_name = "MAYFLY";
constexpr std::string_view mark = "Mayfly's data, format 4\n";
// Format 1 stores tables' settings among the members of their descriptions (table.cc). Formats 1 and 2
// have no old versions of items. Formats 1 to 3 have no expiry entries for items that never expire, and
// a program that writes these formats would mistake such entries for those of items that are long
// overdue (expiry_index.h).
constexpr std::string_view older_marks[] = {"Mayfly's data, format 1\n", "Mayfly's data, format 2\n",
                                            "Mayfly's data, format 3\n"};

enum class Contents { none, marked, older_mark, other_mark, database, strange };

// In a directory that belongs to another user, any file can be a pipe, a device or a link. With these flags,
// opening the file neither waits nor follows a link.
constexpr int file_flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// Returns the contents of the file or, if the file is longer than the mark, enough of them to show that it is
// not the mark. Returns nullopt if the file is not a regular file or cannot be read.
std::optional<std::string> read_mark(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | file_flags);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string text(2 * mark.size(), '\0');
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t got = regular ? ::read(file, text.data(), text.size()) : -1;
  ::close(file);
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

Contents contents_of(const std::string& path, std::error_code& error) {
  bool any = false, database = false;
  for (fs::directory_iterator entries(path, error), end; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename();
    if (name == mark_name) {
      const auto text = read_mark(entries->path());
      if (!text) return Contents::strange;
      if (std::ranges::find(older_marks, *text) != std::end(older_marks)) return Contents::older_mark;
      // A process that is killed before it writes the mark leaves an empty file.
      return *text == mark || text->empty() ? Contents::marked : Contents::other_mark;
    }
    if (name == "lost+found") continue;  // the file system creates it at a mount point
    any = true;
    database = database || name == "CURRENT";
  }
  return database ? Contents::database : any ? Contents::strange : Contents::none;
}

Unexpected<std::string> cannot(std::string_view what, const std::string& path, const std::string& why) {
  return Unexpected{"cannot " + std::string(what) + " the data directory " + path + ": " + why};
}

// Returns nullopt if the directory is empty.
Expected<std::optional<DataDirectory>, std::string> recognise(const std::string& path) {
  std::error_code error;
  const Contents contents = contents_of(path, error);
  if (error) return cannot("read", path, error.message());
  switch (contents) {
    case Contents::strange: return Unexpected{not_ours(path)};
    case Contents::other_mark:
      return Unexpected{"the data directory " + path +
                        " was written by another version of Mayfly, in a format that "
                        "this version does not know"};
    case Contents::older_mark: return std::optional(DataDirectory::older);
    case Contents::database: return std::optional(DataDirectory::unmarked);
    case Contents::marked: return std::optional(DataDirectory::claimed);
    case Contents::none: break;
  }
  return std::optional<DataDirectory>();
}

// Restricts the directory and its regular files to their owner. Files that belong to another user stay as
// they are, because chmod fails. Modes are changed through open descriptors, so a link that replaces a file
// in the meantime has no effect outside the directory.
void narrow(const std::string& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  (void)::fchmod(directory, S_IRWXU);
  std::error_code error;
  for (fs::directory_iterator entries(path, error), end; !error && entries != end; entries.increment(error)) {
    const int file = ::openat(directory, entries->path().filename().c_str(), O_RDONLY | file_flags);
    if (file < 0) continue;
    struct stat status {};
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1)
      (void)::fchmod(file, S_IRUSR | S_IWUSR);
    ::close(file);
  }
  ::close(directory);
}

}  // namespace

Expected<DataDirectory, std::string> recognise_data_directory(const std::string& path) {
  TRY(const std::optional<DataDirectory> found, recognise(path));
  if (!found) return Unexpected{"the data directory " + path + " is empty"};
  return *found;
}

Expected<DataDirectory, std::string> claim_data_directory(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    fs::path directory(path);
    if (!directory.has_filename()) directory = directory.parent_path();  // "data/"
    if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
    if (error) return cannot("create", path, error.message());
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return cannot("create", path, std::strerror(errno));
  } else if (!fs::is_directory(path, error)) {
    return cannot("create", path, std::strerror(ENOTDIR));
  }
  TRY(const std::optional<DataDirectory> found, recognise(path));
  if (found && *found != DataDirectory::claimed) return *found;
  CHECK_OK(mark_data_directory(path));
  return DataDirectory::claimed;
}

Expected<void, std::string> mark_data_directory(const std::string& path) {
  narrow(path);
  const std::string name = (fs::path(path) / mark_name).string();
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | file_flags, S_IRUSR | S_IWUSR);
  if (file < 0) return cannot("write to", path, std::strerror(errno));
  (void)::fchmod(file, S_IRUSR | S_IWUSR);
  const bool written = ::write(file, mark.data(), mark.size()) == static_cast<ssize_t>(mark.size());
  const int failure = errno;
  ::close(file);
  if (!written) return cannot("write to", path, std::strerror(failure));
  return {};
}

std::string not_ours(const std::string& path) {
  return "the data directory " + path +
         " is not empty and was not created by Mayfly; use an empty or a new directory";
}

}  // namespace mayfly::engine
