#include "engine/storage/data_directory.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "os/directory.h"
#include "os/file.h"
#include "os/path.h"
#include "os/reason.h"

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

// Returns the contents of the file or, if the file is longer than the mark, enough of them to show that it is
// not the mark. Returns nullopt if the file is not a regular file or cannot be read. In a directory that
// belongs to another user, any file can be a pipe, a device or a link, so opening it must neither wait nor
// follow a link.
std::optional<std::string> read_mark(const std::string& path) {
  std::error_code error;
  const os::File file = os::File::open(path, {}, error);
  if (error || file.facts(error).kind != os::Kind::file) return std::nullopt;
  std::string text(2 * mark.size(), '\0');
  text.resize(file.read(text, error));
  if (error) return std::nullopt;
  return text;
}

Contents contents_of(const std::string& path, std::error_code& error) {
  bool any = false, database = false;
  for (fs::directory_iterator entries(os::path_of(path), error), end; !error && entries != end;
       entries.increment(error)) {
    const std::string name = os::text_of(entries->path().filename());
    if (name == mark_name) {
      const auto text = read_mark(os::text_of(entries->path()));
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
  if (error) return cannot("read", path, os::reason(error));
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
  std::error_code error;
  const os::Directory directory = os::Directory::open(path, error);
  if (error) return;
  directory.restrict_to_owner(error);
  for (const os::Entry& entry : directory.entries(error)) {
    const os::File file = directory.open_file(entry.name, {}, error);
    if (!error && file.facts(error).is_only_here()) file.restrict_to_owner(error);
  }
}

}  // namespace

Expected<DataDirectory, std::string> recognise_data_directory(const std::string& path) {
  TRY(const std::optional<DataDirectory> found, recognise(path));
  if (!found) return Unexpected{"the data directory " + path + " is empty"};
  return *found;
}

Expected<DataDirectory, std::string> claim_data_directory(const std::string& path) {
  std::error_code error;
  if (!fs::exists(os::path_of(path), error)) {
    fs::path directory = os::path_of(path);
    if (!directory.has_filename()) directory = directory.parent_path();  // "data/"
    if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
    // A file has the name of one of the directories.
    if (error == std::errc::file_exists) error = std::make_error_code(std::errc::not_a_directory);
    if (error) return cannot("create", path, os::reason(error));
    os::make_directory(path, error);
    if (error) return cannot("create", path, error.message());
  } else if (!fs::is_directory(os::path_of(path), error)) {
    return cannot("create", path, os::reason(std::make_error_code(std::errc::not_a_directory)));
  }
  TRY(const std::optional<DataDirectory> found, recognise(path));
  if (found && *found != DataDirectory::claimed) return *found;
  CHECK_OK(mark_data_directory(path));
  return DataDirectory::claimed;
}

Expected<void, std::string> mark_data_directory(const std::string& path) {
  narrow(path);
  const std::string name = path + "/" + std::string(mark_name);
  std::error_code error, ignored;
  const os::File file =
      os::File::open(name, {.access = os::Access::write, .make = os::Make::if_missing}, error);
  if (!error) file.restrict_to_owner(ignored);
  if (!error) file.write(mark, error);
  if (error) return cannot("write to", path, error.message());
  return {};
}

std::string not_ours(const std::string& path) {
  return "the data directory " + path +
         " is not empty and was not created by Mayfly; use an empty or a new directory";
}

}  // namespace mayfly::engine
