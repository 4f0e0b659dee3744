#include "cli/table_files/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "engine/base/hex.h"
#include "http/base/sha256.h"

namespace mayfly::transfer {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;

Unexpected<std::string> failed(const std::string& path) { return {path + ": " + std::strerror(errno)}; }

// Returns a sentence that says why an entry of a Directory could not be opened.
Unexpected<std::string> not_opened(const std::string& path) {
  switch (errno) {
    case EISDIR: return {path + " must be a regular file, not a directory"};
    case ELOOP:
    case EMLINK:
    case ENOTDIR:
      return {path + " is a link or is reached through one. Links in a directory are not followed"};
    case ENXIO: return {path + " must be a regular file, not a pipe, socket or device"};
    default: return failed(path);
  }
}

// Splits "carts/data/0000.json.gz" into its parts. Returns nullopt if the name could lead out of a directory.
std::optional<std::vector<std::string>> parts_of(std::string_view name) {
  constexpr std::size_t parts_max = 16;
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    parts.emplace_back(name.substr(start, end - start));
    if (compat::outbound::names_nothing(parts.back()) || parts.size() > parts_max) return std::nullopt;
    start = end + 1;
  }
  return parts;
}

}  // namespace

Expected<Descriptor, std::string> open_to_read(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &found) != 0) return failed(path);
  if (S_ISDIR(found.st_mode)) return Unexpected{path + " is a directory"};
  return descriptor;
}

Expected<std::string, std::string> read_some(int descriptor, const std::string& path) {
  std::string text(piece_bytes, '\0');
  ssize_t got = 0;
  do {
    got = ::read(descriptor, text.data(), text.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return failed(path);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

Expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max) {
  TRY(const Descriptor descriptor, open_to_read(path));
  return read_file(descriptor.number(), path, bytes_max);
}

Expected<std::string, std::string> read_file(int descriptor, const std::string& path, std::size_t bytes_max) {
  std::string text;
  for (;;) {
    TRY(const std::string piece, read_some(descriptor, path));
    if (piece.empty()) return text;
    text += piece;
    if (text.size() > bytes_max)
      return Unexpected{path + " is larger than " + std::to_string(bytes_max) + " bytes"};
  }
}

Expected<void, std::string> write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(path);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Expected<void, std::string> make_directory(const std::string& path) {
  std::error_code failure;
  if (const auto parent = std::filesystem::path(path).parent_path(); !parent.empty())
    std::filesystem::create_directories(parent, failure);
  if (failure) return Unexpected{path + ": " + failure.message()};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed(path);
  return {};
}

bool is_name_within(std::string_view name) { return parts_of(name).has_value(); }

Expected<std::shared_ptr<const Directory>, std::string> Directory::open(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), compat::outbound::path_flag | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return failed(path);
  return std::make_shared<const Directory>(std::move(descriptor), path);
}

Expected<std::shared_ptr<const Directory>, std::string> Directory::open_below(const std::string& name) const {
  auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  parts->emplace_back(".");  // open_parent() does not open the last part
  Descriptor descriptor = compat::outbound::open_parent(descriptor_.number(), *parts);
  if (!descriptor.is_open()) return not_opened(path_of(name));
  return std::make_shared<const Directory>(std::move(descriptor), path_of(name));
}

bool Directory::has(const std::string& name) const {
  const auto parts = parts_of(name);
  if (!parts) return false;
  const Descriptor parent = compat::outbound::open_parent(descriptor_.number(), *parts);
  struct stat found {};
  return parent.is_open() &&
         ::fstatat(parent.number(), parts->back().c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

Expected<Descriptor, std::string> Directory::open_to_read(const std::string& name) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  auto file = compat::outbound::open_regular(descriptor_.number(), *parts);
  if (!file.descriptor.is_open()) return not_opened(path_of(name));
  return std::move(file.descriptor);
}

Expected<std::string, std::string> Directory::read_file(const std::string& name,
                                                        std::size_t bytes_max) const {
  TRY(const Descriptor descriptor, open_to_read(name));
  return mayfly::transfer::read_file(descriptor.number(), path_of(name), bytes_max);
}

Expected<std::unique_ptr<GrowingFile>, std::string> Directory::open_to_grow(const std::string& name,
                                                                            std::uint64_t bytes) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  const Descriptor parent = compat::outbound::open_parent(descriptor_.number(), *parts, true);
  if (!parent.is_open()) return not_opened(path_of(name));
  Descriptor descriptor(::openat(parent.number(), parts->back().c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | compat::outbound::file_flags, 0600));
  if (!descriptor.is_open()) return not_opened(path_of(name));
  struct stat found {};
  if (::fstat(descriptor.number(), &found) != 0) return failed(path_of(name));
  // Writing to a file that has several names would change the content under all of these names.
  if (!S_ISREG(found.st_mode) || found.st_nlink != 1)
    return Unexpected{path_of(name) + " must be a regular file without other hard links"};
  return GrowingFile::of(std::move(descriptor), path_of(name), bytes);
}

Expected<void, std::string> Directory::write_file(const std::string& name, std::string_view text) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  const Descriptor parent = compat::outbound::open_parent(descriptor_.number(), *parts, true);
  if (!parent.is_open()) return not_opened(path_of(name));
  const std::string temporary = parts->back() + ".tmp";
  // Replaces a leftover file or a link instead of writing to it.
  ::unlinkat(parent.number(), temporary.c_str(), 0);
  {
    const Descriptor descriptor(::openat(parent.number(), temporary.c_str(),
                                         O_WRONLY | O_CREAT | O_EXCL | compat::outbound::file_flags, 0600));
    if (!descriptor.is_open()) return not_opened(path_of(name) + ".tmp");
    CHECK_OK(write_all(descriptor.number(), text, path_of(name) + ".tmp"));
    if (::fsync(descriptor.number()) != 0) return failed(path_of(name) + ".tmp");
  }
  if (::renameat(parent.number(), temporary.c_str(), parent.number(), parts->back().c_str()) != 0)
    return failed(path_of(name));
  return {};
}

Expected<std::string, std::string> sha256_of(int descriptor, const std::string& path) {
  http::Sha256 sum;
  for (;;) {
    TRY(const std::string piece, read_some(descriptor, path));
    if (piece.empty()) return engine::hex(sum.end());
    sum.add(piece);
  }
}

Expected<std::unique_ptr<GrowingFile>, std::string> GrowingFile::open(const std::string& path,
                                                                      std::uint64_t bytes) {
  const bool is_followed = path.starts_with("/dev/") || path.starts_with("/proc/");
  struct stat found {};
  const bool is_missing = ::lstat(path.c_str(), &found) != 0 && errno == ENOENT;
  const int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | (is_followed ? 0 : O_NOFOLLOW) |
                    (is_missing ? O_CREAT | O_EXCL : 0);
  Descriptor descriptor(::open(path.c_str(), flags, 0600));
  if (!descriptor.is_open() && (errno == ELOOP || errno == EMLINK))
    return Unexpected{path + " is a link, which is not followed. Name the file itself"};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &found) != 0) return failed(path);
  if (!is_followed && S_ISREG(found.st_mode) && found.st_nlink != 1)
    return Unexpected{path + " has other hard links, whose content would change as well. Name another file"};
  return of(std::move(descriptor), path, bytes);
}

Expected<std::unique_ptr<GrowingFile>, std::string> GrowingFile::of(Descriptor descriptor, std::string path,
                                                                    std::uint64_t bytes) {
  struct stat found {};
  if (::fstat(descriptor.number(), &found) != 0) return failed(path);
  if (static_cast<std::uint64_t>(found.st_size) < bytes)
    return Unexpected{path +
                      " is shorter than the journal says, so data was lost. Start over without --resume"};
  if (::ftruncate(descriptor.number(), static_cast<off_t>(bytes)) != 0) return failed(path);
  return std::make_unique<GrowingFile>(std::move(descriptor), std::move(path), bytes);
}

Expected<void, std::string> GrowingFile::append(std::string_view text) {
  CHECK_OK(write_all(descriptor_.number(), text, path_));
  bytes_ += text.size();
  return {};
}

Expected<void, std::string> GrowingFile::sync() {
  // Pipes and terminals cannot be synced, and need not be.
  if (::fsync(descriptor_.number()) != 0 && errno != EINVAL && errno != EROFS) return failed(path_);
  return {};
}

}  // namespace mayfly::transfer
