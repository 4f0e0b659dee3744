#include "compat/lambda/destination_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/base/mutex.h"
#include "os/path.h"

namespace mayfly::compat::triggers {
namespace {

std::string_view path_of(std::string_view destination) {
  constexpr std::string_view scheme = "file://";
  if (destination.starts_with(scheme)) destination.remove_prefix(scheme.size());
  return destination;
}

}  // namespace

Expected<std::unique_ptr<DestinationDirectory>, std::string> DestinationDirectory::open(
    const std::string& path, std::int64_t file_bytes_max) {
  const auto made = [&](os::Directory directory, std::vector<std::string> names) {
    return std::unique_ptr<DestinationDirectory>(
        new DestinationDirectory(std::move(directory), std::move(names), file_bytes_max));
  };
  if (path.empty()) return made({}, {});
  std::error_code error, ignored;
  auto directory = os::Directory::open(path, error);
  if (error) return Unexpected{"cannot open the destination directory " + path + ": " + error.message()};
  std::vector<std::string> names;
  const std::filesystem::path given = os::path_of(path);
  for (const auto& name :
       {std::filesystem::absolute(given, ignored), std::filesystem::canonical(given, ignored)}) {
    if (name.empty()) continue;  // it could not be resolved
    std::string text = os::text_of(name.lexically_normal());
    if constexpr (std::filesystem::path::preferred_separator != '/') {
      std::ranges::replace(text, '\\', '/');
      text.insert(0, 1, '/');  // file:///C:/exports/a.jsonl
    }
    if (!text.ends_with('/')) text += '/';
    names.push_back(std::move(text));
  }
  return made(std::move(directory), std::move(names));
}

bool DestinationDirectory::is_file(std::string_view destination) {
  return path_of(destination).starts_with('/');
}

Expected<os::Parts, std::string> DestinationDirectory::parts_of(std::string_view destination) const {
  if (!directory_.is_open()) {
    return Unexpected{std::string("File destinations are available only with --destination-dir")};
  }
  std::string_view rest = path_of(destination);
  for (const std::string& name : names_) {
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    os::Parts parts;
    for (std::size_t start = 0; start <= rest.size();) {
      const std::size_t end = std::min(rest.find('/', start), rest.size());
      parts.emplace_back(rest.substr(start, end - start));
      const std::string& part = parts.back();
      if (os::names_nothing(part)) {
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
  std::error_code error;
  const os::Directory parent = os::open_parent(directory_, parts, false, error);
  if (error)
    return Unexpected{std::string("The file's directory does not exist or is reached through a link")};
  const os::Facts facts = parent.facts_of(parts.back(), error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error || !facts.is_only_here()) {
    return Unexpected{std::string("The existing file is not a regular file or has other hard links")};
  }
  return {};
}

bool DestinationDirectory::append(std::string_view destination, std::string_view line) {
  const auto parts = parts_of(destination);
  if (!parts) return false;
  const engine::Lock lock(mutex_);
  std::error_code error, ignored;
  const os::Directory parent = os::open_parent(directory_, *parts, false, error);
  if (error) return false;
  const os::File file =
      parent.open_file(parts->back(), {.access = os::Access::append, .make = os::Make::if_missing}, error);
  if (error) return false;
  const os::Facts facts = file.facts(error);
  const std::string text = std::string(line) + "\n";
  const auto bytes = static_cast<std::int64_t>(facts.bytes + text.size());
  if (error || !facts.is_only_here() || bytes > file_bytes_max_) return false;
  file.write(text, error);
  if (error) file.truncate(facts.bytes, ignored);  // a full disk must not leave half a line
  return !error;
}

}  // namespace mayfly::compat::triggers
