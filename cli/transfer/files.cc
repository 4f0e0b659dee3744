#include "cli/transfer/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "engine/hex.h"
#include "http/sha256.h"

namespace mayfly::transfer {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;

Unexpected<std::string> failed(const std::string& path) { return {path + ": " + std::strerror(errno)}; }

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
  std::string text;
  for (;;) {
    TRY(const std::string piece, read_some(descriptor.number(), path));
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

Expected<void, std::string> write_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  {
    const Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (descriptor.number() < 0) return failed(temporary);
    CHECK_OK(write_all(descriptor.number(), text, temporary));
    if (::fsync(descriptor.number()) != 0) return failed(temporary);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed(path);
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

Expected<std::string, std::string> sha256_of_file(const std::string& path) {
  TRY(const Descriptor descriptor, open_to_read(path));
  http::Sha256 sum;
  for (;;) {
    TRY(const std::string piece, read_some(descriptor.number(), path));
    if (piece.empty()) return engine::hex(sum.end());
    sum.add(piece);
  }
}

Expected<std::unique_ptr<GrowingFile>, std::string> GrowingFile::open(const std::string& path,
                                                                      std::uint64_t bytes) {
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat found {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &found) != 0) return failed(path);
  if (static_cast<std::uint64_t>(found.st_size) < bytes)
    return Unexpected{path + " is shorter than it was: what was written there is lost, begin anew"};
  if (::ftruncate(descriptor.number(), static_cast<off_t>(bytes)) != 0) return failed(path);
  return std::make_unique<GrowingFile>(std::move(descriptor), path, bytes);
}

Expected<void, std::string> GrowingFile::append(std::string_view text) {
  CHECK_OK(write_all(descriptor_.number(), text, path_));
  bytes_ += text.size();
  return {};
}

Expected<void, std::string> GrowingFile::sync() {
  // Pipes and terminals cannot, and need not.
  if (::fsync(descriptor_.number()) != 0 && errno != EINVAL && errno != EROFS) return failed(path_);
  return {};
}

}  // namespace mayfly::transfer
