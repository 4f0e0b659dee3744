#include "os/directory.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/errors.h"
#include "os/posix/facts.h"
#include "os/posix/flags.h"

namespace mayfly::os {
namespace {

using posix::last_error;

constexpr int directory_flags = posix::look_flags | O_DIRECTORY;

std::error_code outcome_of(int result) { return result < 0 ? last_error() : std::error_code(); }

}  // namespace

Directory Directory::open(const std::string& path, std::error_code& error) {
  Directory directory(File(::open(path.c_str(), directory_flags)));
  error = directory.is_open() ? std::error_code() : last_error();
  return directory;
}

Directory Directory::open_below(const std::string& name, std::error_code& error) const {
  Directory below(File(::openat(file_.native(), name.c_str(), directory_flags | O_NOFOLLOW)));
  error = below.is_open() ? std::error_code() : posix::error_of_opening();
  return below;
}

File Directory::open_file(const std::string& name, HowToOpen how, std::error_code& error) const {
  how.follows_links = false;
  File file(::openat(file_.native(), name.c_str(), posix::flags_of(how), posix::mode_of(how)));
  error = file.is_open() ? std::error_code() : posix::error_of_opening();
  return file;
}

Facts Directory::facts_of(const std::string& name, std::error_code& error) const {
  struct stat status {};
  error = outcome_of(::fstatat(file_.native(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW));
  return posix::facts_of(status);
}

std::vector<Entry> Directory::entries(std::error_code& error) const {
  File readable(::openat(file_.native(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct Closes {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };
  const std::unique_ptr<DIR, Closes> read(readable.is_open() ? ::fdopendir(readable.native()) : nullptr);
  error = read ? std::error_code() : last_error();
  std::vector<Entry> entries;
  if (!read) return entries;
  (void)readable.release();  // closedir() closes it
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(read.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (names_nothing(name)) continue;
    Kind kind = entry->d_type == DT_DIR   ? Kind::directory
                : entry->d_type == DT_REG ? Kind::file
                : entry->d_type == DT_LNK ? Kind::link
                                          : Kind::other;
    if (entry->d_type == DT_UNKNOWN) {
      std::error_code gone;
      kind = facts_of(name, gone).kind;
    }
    entries.push_back({std::move(name), kind});
  }
  if (errno != 0) error = last_error();
  return entries;
}

void Directory::make_directory(const std::string& name, std::error_code& error) const {
  const bool made = ::mkdirat(file_.native(), name.c_str(), S_IRWXU) == 0 || errno == EEXIST;
  error = made ? std::error_code() : last_error();
}

void Directory::rename(const std::string& from, const std::string& to, std::error_code& error) const {
  error = outcome_of(::renameat(file_.native(), from.c_str(), file_.native(), to.c_str()));
}

void Directory::remove(const std::string& name, std::error_code& error) const {
  error = outcome_of(::unlinkat(file_.native(), name.c_str(), 0));
}

void Directory::restrict_to_owner(std::error_code& error) const {
  error = outcome_of(::fchmodat(file_.native(), ".", S_IRWXU, 0));
}

bool names_nothing(std::string_view part) {
  return part.empty() || part == "." || part == ".." || part.find('\0') != part.npos;
}

}  // namespace mayfly::os
