#include "cli/table_files/files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "engine/base/hex.h"
#include "http/base/sha256.h"
#include "os/path.h"

namespace mayfly::transfer {
namespace {

using std::errc;

constexpr std::size_t piece_bytes = 64 * 1024;

Unexpected<std::string> failed(const std::string& path, std::error_code error) {
  return {path + ": " + error.message()};
}

// Returns a sentence that says why an entry of a Directory could not be opened.
Unexpected<std::string> not_opened(const std::string& path, std::error_code error) {
  if (error == errc::is_a_directory) return {path + " must be a regular file, not a directory"};
  if (error == errc::too_many_symbolic_link_levels || error == errc::not_a_directory)
    return {path + " is a link or is reached through one. Links in a directory are not followed"};
  if (error == errc::no_such_device_or_address)
    return {path + " must be a regular file, not a pipe, socket or device"};
  return failed(path, error);
}

// Splits "carts/data/0000.json.gz" into its parts. Returns nullopt if the name could lead out of a directory.
std::optional<os::Parts> parts_of(std::string_view name) {
  constexpr std::size_t parts_max = 16;
  os::Parts parts;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    parts.emplace_back(name.substr(start, end - start));
    if (os::names_nothing(parts.back()) || parts.size() > parts_max) return std::nullopt;
    start = end + 1;
  }
  return parts;
}

}  // namespace

Expected<os::File, std::string> open_to_read(const std::string& path) {
  std::error_code error;
  os::File file = os::File::open(path, {.follows_links = true, .waits = true}, error);
  const os::Facts facts = error ? os::Facts() : file.facts(error);
  if (error) return failed(path, error);
  if (facts.kind == os::Kind::directory) return Unexpected{path + " is a directory"};
  return file;
}

Expected<std::string, std::string> read_some(const os::File& file, const std::string& path) {
  std::string text(piece_bytes, '\0');
  std::error_code error;
  text.resize(file.read(text, error));
  if (error) return failed(path, error);
  return text;
}

Expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max) {
  TRY(const os::File file, open_to_read(path));
  return read_file(file, path, bytes_max);
}

Expected<std::string, std::string> read_file(const os::File& file, const std::string& path,
                                             std::size_t bytes_max) {
  std::string text;
  for (;;) {
    TRY(const std::string piece, read_some(file, path));
    if (piece.empty()) return text;
    text += piece;
    if (text.size() > bytes_max)
      return Unexpected{path + " is larger than " + std::to_string(bytes_max) + " bytes"};
  }
}

Expected<void, std::string> write_all(const os::File& file, std::string_view text, const std::string& path) {
  std::error_code error;
  file.write(text, error);
  if (error) return failed(path, error);
  return {};
}

Expected<void, std::string> make_directory(const std::string& path) {
  std::error_code failure;
  if (const auto parent = os::path_of(path).parent_path(); !parent.empty())
    std::filesystem::create_directories(parent, failure);
  if (failure) return failed(path, failure);
  os::make_directory(path, failure);
  if (failure) return failed(path, failure);
  return {};
}

bool is_name_within(std::string_view name) { return parts_of(name).has_value(); }

Expected<std::shared_ptr<const Directory>, std::string> Directory::open(const std::string& path) {
  std::error_code error;
  os::Directory opened = os::Directory::open(path, error);
  if (error) return failed(path, error);
  return std::make_shared<const Directory>(std::move(opened), path);
}

Expected<std::shared_ptr<const Directory>, std::string> Directory::open_below(const std::string& name) const {
  auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  parts->emplace_back(".");  // open_parent() does not open the last part
  std::error_code error;
  os::Directory below = os::open_parent(opened_, *parts, false, error);
  if (error) return not_opened(path_of(name), error);
  return std::make_shared<const Directory>(std::move(below), path_of(name));
}

bool Directory::has(const std::string& name) const {
  const auto parts = parts_of(name);
  if (!parts) return false;
  std::error_code error;
  const os::Directory parent = os::open_parent(opened_, *parts, false, error);
  if (!error) (void)parent.facts_of(parts->back(), error);
  return !error;
}

Expected<os::File, std::string> Directory::open_to_read(const std::string& name) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  std::error_code error;
  os::RegularFile opened = os::open_regular(opened_, *parts, error);
  if (error) return not_opened(path_of(name), error);
  return std::move(opened.file);
}

Expected<std::string, std::string> Directory::read_file(const std::string& name,
                                                        std::size_t bytes_max) const {
  TRY(const os::File file, open_to_read(name));
  return mayfly::transfer::read_file(file, path_of(name), bytes_max);
}

Expected<std::unique_ptr<GrowingFile>, std::string> Directory::open_to_grow(const std::string& name,
                                                                            std::uint64_t bytes) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  std::error_code error;
  const os::Directory parent = os::open_parent(opened_, *parts, true, error);
  if (error) return not_opened(path_of(name), error);
  os::File file =
      parent.open_file(parts->back(), {.access = os::Access::append, .make = os::Make::if_missing}, error);
  if (error) return not_opened(path_of(name), error);
  const os::Facts facts = file.facts(error);
  if (error) return failed(path_of(name), error);
  // Writing to a file that has several names would change the content under all of these names.
  if (!facts.is_only_here())
    return Unexpected{path_of(name) + " must be a regular file without other hard links"};
  return GrowingFile::of(std::move(file), path_of(name), bytes);
}

Expected<void, std::string> Directory::write_file(const std::string& name, std::string_view text) const {
  const auto parts = parts_of(name);
  if (!parts) return Unexpected{path_of(name) + " is not a path within the directory"};
  std::error_code error;
  const os::Directory parent = os::open_parent(opened_, *parts, true, error);
  if (error) return not_opened(path_of(name), error);
  const std::string temporary = parts->back() + ".tmp";
  // Replaces a leftover file or a link instead of writing to it.
  parent.remove(temporary, error);
  {
    const os::File file =
        parent.open_file(temporary, {.access = os::Access::write, .make = os::Make::must_be_new}, error);
    if (error) return not_opened(path_of(name) + ".tmp", error);
    CHECK_OK(write_all(file, text, path_of(name) + ".tmp"));
    file.sync(error);
    if (error) return failed(path_of(name) + ".tmp", error);
  }
  parent.rename(temporary, parts->back(), error);
  if (error) return failed(path_of(name), error);
  return {};
}

Expected<std::string, std::string> sha256_of(const os::File& file, const std::string& path) {
  http::Sha256 sum;
  for (;;) {
    TRY(const std::string piece, read_some(file, path));
    if (piece.empty()) return engine::hex(sum.end());
    sum.add(piece);
  }
}

Expected<std::unique_ptr<GrowingFile>, std::string> GrowingFile::open(const std::string& path,
                                                                      std::uint64_t bytes) {
  const bool is_followed = path.starts_with("/dev/") || path.starts_with("/proc/");
  std::error_code error;
  (void)os::facts_of(path, false, error);
  const bool is_missing = error == errc::no_such_file_or_directory;
  os::File file = os::File::open(path,
                                 {.access = os::Access::append,
                                  .make = is_missing ? os::Make::must_be_new : os::Make::never,
                                  .follows_links = is_followed,
                                  .waits = true},
                                 error);
  if (error == errc::too_many_symbolic_link_levels)
    return Unexpected{path + " is a link, which is not followed. Name the file itself"};
  const os::Facts facts = error ? os::Facts() : file.facts(error);
  if (error) return failed(path, error);
  if (!is_followed && facts.kind == os::Kind::file && facts.names != 1)
    return Unexpected{path + " has other hard links, whose content would change as well. Name another file"};
  return of(std::move(file), path, bytes);
}

Expected<std::unique_ptr<GrowingFile>, std::string> GrowingFile::of(os::File file, std::string path,
                                                                    std::uint64_t bytes) {
  std::error_code error;
  const os::Facts facts = file.facts(error);
  if (error) return failed(path, error);
  if (facts.bytes < bytes)
    return Unexpected{path +
                      " is shorter than the journal says, so data was lost. Start over without --resume"};
  file.truncate(bytes, error);
  if (error) return failed(path, error);
  return std::make_unique<GrowingFile>(std::move(file), std::move(path), bytes);
}

Expected<void, std::string> GrowingFile::append(std::string_view text) {
  CHECK_OK(write_all(file_, text, path_));
  bytes_ += text.size();
  return {};
}

Expected<void, std::string> GrowingFile::sync() {
  // Pipes and terminals cannot be synced, and need not be.
  std::error_code error;
  file_.sync(error);
  if (error && error != errc::invalid_argument && error != errc::read_only_file_system)
    return failed(path_, error);
  return {};
}

}  // namespace mayfly::transfer
