#include "os/file.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/errors.h"
#include "os/posix/facts.h"
#include "os/posix/flags.h"

namespace mayfly::os {
namespace {

using posix::call;
using posix::last_error;

}  // namespace

File::~File() {
  if (is_open()) ::close(native_);
}

File File::open(const std::string& path, HowToOpen how, std::error_code& error) {
  File file(::open(path.c_str(), posix::flags_of(how), posix::mode_of(how)));
  error = file.is_open() ? std::error_code() : posix::error_of_opening();
  return file;
}

Facts File::facts(std::error_code& error) const {
  struct stat status {};
  call(error, [&] { return ::fstat(native_, &status); });
  return posix::facts_of(status);
}

std::size_t File::read(std::span<char> to, std::error_code& error) const {
  const ssize_t got = call(error, [&] { return ::read(native_, to.data(), to.size()); });
  return error ? 0 : static_cast<std::size_t>(got);
}

std::size_t File::read_at(std::uint64_t offset, std::span<char> to, std::error_code& error) const {
  std::size_t filled = 0;
  while (filled < to.size()) {
    const auto rest = to.subspan(filled);
    const ssize_t got = call(error, [&] {
      return ::pread(native_, rest.data(), rest.size(), static_cast<off_t>(offset + filled));
    });
    if (error || got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void File::rewind(std::error_code& error) const {
  call(error, [&] { return ::lseek(native_, 0, SEEK_SET); });
}

void File::write(std::string_view bytes, std::error_code& error) const {
  error.clear();
  while (!bytes.empty()) {
    const ssize_t put = call(error, [&] { return ::write(native_, bytes.data(), bytes.size()); });
    if (error) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void File::truncate(std::uint64_t bytes, std::error_code& error) const {
  call(error, [&] { return ::ftruncate(native_, static_cast<off_t>(bytes)); });
}

void File::sync(std::error_code& error) const {
#if defined(__APPLE__)
  // fsync() leaves the data in the disk's cache. File systems that do not know F_FULLFSYNC have fsync().
  if (::fcntl(native_, F_FULLFSYNC) == 0) return error.clear();
#endif
  call(error, [&] { return ::fsync(native_); });
  // macOS reports ENOTSUP for a pipe, and Linux EINVAL.
  if (error == std::errc::not_supported) error = std::make_error_code(std::errc::invalid_argument);
}

void File::restrict_to_owner(std::error_code& error) const {
  struct stat status {};
  call(error, [&] { return ::fstat(native_, &status); });
  if (error) return;
  const mode_t mode = S_ISDIR(status.st_mode) ? S_IRWXU : S_IRUSR | S_IWUSR;
  call(error, [&] { return ::fchmod(native_, mode); });
}

void File::lock(Lock lock, bool waits, std::error_code& error) const {
  const int operation = (lock == Lock::shared ? LOCK_SH : LOCK_EX) | (waits ? 0 : LOCK_NB);
  call(error, [&] { return ::flock(native_, operation); });
}

void File::close(std::error_code& error) {
  // The descriptor is closed even after EINTR.
  error = ::close(std::exchange(native_, closed)) != 0 && errno != EINTR ? last_error() : std::error_code();
}

Facts facts_of(const std::string& path, bool follows_links, std::error_code& error) {
  struct stat status {};
  call(error, [&] { return follows_links ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status); });
  return posix::facts_of(status);
}

void make_directory(const std::string& path, std::error_code& error) {
  error = ::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST ? last_error() : std::error_code();
}

void rename(const std::string& from, const std::string& to, std::error_code& error) {
  error = std::rename(from.c_str(), to.c_str()) != 0 ? last_error() : std::error_code();
}

void rename_to_new(const std::string& from, const std::string& to, std::error_code& error) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return error.clear();
  }
  error = last_error();
  if (error == std::errc::file_exists) return;
  // The file system does not support hard links.
  struct stat found {};
  if (::lstat(to.c_str(), &found) == 0)
    error = std::make_error_code(std::errc::file_exists);
  else
    rename(from, to, error);
}

void remove(const std::string& path, std::error_code& error) {
  error = ::unlink(path.c_str()) != 0 ? last_error() : std::error_code();
}

}  // namespace mayfly::os
