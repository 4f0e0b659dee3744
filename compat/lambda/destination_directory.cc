#include "compat/lambda/destination_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "compat/outbound/beneath.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::triggers {
namespace {

constexpr int append_flags = O_WRONLY | O_CREAT | O_APPEND | outbound::file_flags;

std::string_view path_of(std::string_view destination) {
  constexpr std::string_view scheme = "file://";
  if (destination.starts_with(scheme)) destination.remove_prefix(scheme.size());
  return destination;
}

// Returns the file's status if the file can be written to. A file with a second hard link is rejected,
// because that link could be outside the directory.
std::optional<struct stat> regular_file(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1)
    return std::nullopt;
  return status;
}

}  // namespace

Expected<std::unique_ptr<DestinationDirectory>, std::string> DestinationDirectory::open(
    const std::string& path, std::int64_t file_bytes_max) {
  const auto made = [&](int descriptor, std::vector<std::string> names) {
    return std::unique_ptr<DestinationDirectory>(
        new DestinationDirectory(descriptor, std::move(names), file_bytes_max));
  };
  if (path.empty()) return made(-1, {});
  const int descriptor = ::open(path.c_str(), outbound::path_flag | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return Unexpected{"cannot open the destination directory " + path + ": " + std::strerror(errno)};
  }
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& name :
       {std::filesystem::absolute(path, ignored), std::filesystem::canonical(path, ignored)}) {
    std::string text = name.lexically_normal().string();
    if (!text.ends_with('/')) text += '/';
    names.push_back(std::move(text));
  }
  return made(descriptor, std::move(names));
}

DestinationDirectory::~DestinationDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool DestinationDirectory::is_file(std::string_view destination) {
  return path_of(destination).starts_with('/');
}

Expected<std::vector<std::string>, std::string> DestinationDirectory::parts_of(
    std::string_view destination) const {
  if (descriptor_ < 0) {
    return Unexpected{std::string("File destinations are available only with --destination-dir")};
  }
  std::string_view rest = path_of(destination);
  for (const std::string& name : names_) {
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= rest.size();) {
      const std::size_t end = std::min(rest.find('/', start), rest.size());
      parts.emplace_back(rest.substr(start, end - start));
      const std::string& part = parts.back();
      if (outbound::names_nothing(part)) {
        return Unexpected{"The path below " + name +
                          " must not have NUL bytes or parts that are empty, . or .."};
      }
      start = end + 1;
    }
    return parts;
  }
  return Unexpected{"The file must be below " + names_.front() + " (--destination-dir)"};
}

Expected<void, std::string> DestinationDirectory::check(std::string_view destination) const {
  TRY(const auto parts, parts_of(destination));
  const outbound::Descriptor parent = outbound::open_parent(descriptor_, parts);
  if (!parent.is_open())
    return Unexpected{std::string("The file's directory does not exist or is reached through a link")};
  const outbound::Descriptor file(::openat(parent.number(), parts.back().c_str(), outbound::look_flags));
  if (!file.is_open() && errno == ENOENT) return {};
  if (!file.is_open() || !regular_file(file.number())) {
    return Unexpected{std::string("The existing file is not a regular file or has other hard links")};
  }
  return {};
}

bool DestinationDirectory::append(std::string_view destination, std::string_view line) {
  const auto parts = parts_of(destination);
  if (!parts) return false;
  const engine::Lock lock(mutex_);
  const outbound::Descriptor parent = outbound::open_parent(descriptor_, *parts);
  if (!parent.is_open()) return false;
  const outbound::Descriptor file(::openat(parent.number(), parts->back().c_str(), append_flags, 0600));
  if (!file.is_open()) return false;
  const auto status = regular_file(file.number());
  const std::string text = std::string(line) + "\n";
  const auto bytes = static_cast<std::int64_t>(text.size());
  if (!status || status->st_size > file_bytes_max_ - bytes) return false;
  if (::write(file.number(), text.data(), text.size()) == bytes) return true;
  [[maybe_unused]] const int cut =
      ::ftruncate(file.number(), status->st_size);  // a full disk must not leave half a line
  return false;
}

}  // namespace mayfly::compat::triggers
