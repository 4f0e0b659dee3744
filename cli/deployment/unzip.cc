#include "cli/deployment/unzip.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <libdeflate.h>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "os/directory.h"
#include "os/path.h"
#include "os/reason.h"

namespace mayfly::deployment {

namespace {

namespace fs = std::filesystem;

// Offsets and values of the format.
constexpr std::string_view end_mark("PK\5\6", 4), entry_mark("PK\1\2", 4), local_mark("PK\3\4", 4);
constexpr std::size_t end_bytes = 22, entry_bytes = 46, local_bytes = 30, comment_bytes_max = 65'535;
constexpr std::uint32_t is_in_zip64 = 0xffffffff, are_in_zip64 = 0xffff;
constexpr unsigned encrypted = 1, stored = 0, deflated = 8, made_on_unix = 3;
constexpr unsigned kind_mask = 0170000, link_kind = 0120000, executable_mask = 0111;

// Little-endian numbers of the archive. Requires: they are within it.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}
  [[nodiscard]] std::uint32_t two(std::size_t at) const { return one(at) | one(at + 1) << 8U; }
  [[nodiscard]] std::uint32_t four(std::size_t at) const { return two(at) | two(at + 2) << 16U; }
  [[nodiscard]] bool has(std::size_t at, std::size_t bytes) const {
    return at <= all_.size() && bytes <= all_.size() - at;
  }
  [[nodiscard]] std::string_view part(std::size_t at, std::size_t bytes) const {
    return all_.substr(at, bytes);
  }

 private:
  [[nodiscard]] std::uint32_t one(std::size_t at) const { return static_cast<unsigned char>(all_[at]); }
  std::string_view all_;
};

constexpr std::size_t depth_max = 100;              // directories above a file
constexpr std::size_t directories_max = 1'000'000;  // counted once for each file

struct Packed {
  std::string name;
  std::string_view data;
  std::uint32_t bytes = 0, checksum = 0;
  unsigned method = stored;
  bool is_executable = false;
};

const Unexpected<std::string> damaged{"is not a complete ZIP file"};

// Lists the files from the directory at the archive's end. The error continues a sentence.
Expected<std::vector<Packed>, std::string> packed_files(std::string_view text) {
  const Bytes bytes(text);
  if (text.size() < end_bytes) return damaged;
  const std::size_t first = text.size() - std::min(text.size(), end_bytes + comment_bytes_max);
  const auto end = text.rfind(end_mark, text.size() - end_bytes);
  if (end == text.npos || end < first) return damaged;
  const std::uint32_t count = bytes.two(end + 10);
  std::size_t at = bytes.four(end + 16);
  const Unexpected<std::string> large{"uses ZIP64, which is not supported"};
  if (count == are_in_zip64 || at == is_in_zip64) return large;
  std::vector<Packed> files;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!bytes.has(at, entry_bytes) || bytes.part(at, 4) != entry_mark) return damaged;
    const std::size_t name_bytes = bytes.two(at + 28);
    if (!bytes.has(at + entry_bytes, name_bytes)) return damaged;
    Packed file{.name = std::string(bytes.part(at + entry_bytes, name_bytes)),
                .bytes = bytes.four(at + 24),
                .checksum = bytes.four(at + 16),
                .method = bytes.two(at + 10)};
    const std::uint32_t packed_bytes = bytes.four(at + 20);
    const std::size_t local = bytes.four(at + 42);
    if (packed_bytes == is_in_zip64 || file.bytes == is_in_zip64 || local == is_in_zip64) return large;
    if ((bytes.two(at + 8) & encrypted) != 0) return Unexpected{"has the encrypted file " + file.name};
    if (bytes.two(at + 4) >> 8U == made_on_unix) {
      const std::uint32_t mode = bytes.four(at + 38) >> 16U;
      if ((mode & kind_mask) == link_kind)
        return Unexpected{"has the link " + file.name + ". Pack the file that it leads to"};
      file.is_executable = (mode & executable_mask) != 0;
    }
    if (!bytes.has(local, local_bytes) || bytes.part(local, 4) != local_mark) return damaged;
    const std::size_t data = local + local_bytes + bytes.two(local + 26) + bytes.two(local + 28);
    if (!bytes.has(data, packed_bytes)) return damaged;
    file.data = bytes.part(data, packed_bytes);
    total += file.bytes;
    if (total > unpacked_bytes_max) return Unexpected{std::string("has more than 250 MB, Lambda's limit")};
    at += entry_bytes + name_bytes + bytes.two(at + 30) + bytes.two(at + 32);
    if (!file.name.ends_with('/')) files.push_back(std::move(file));  // otherwise a directory
  }
  return files;
}

struct Ends {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};
using Inflater = std::unique_ptr<libdeflate_decompressor, Ends>;

Expected<std::string, std::string> unpacked(const Packed& file, libdeflate_decompressor& inflater) {
  std::string text;
  if (file.method == stored) {
    text = file.data;
  } else if (file.method == deflated) {
    text.resize(file.bytes);
    if (libdeflate_deflate_decompress(&inflater, file.data.data(), file.data.size(), text.data(), text.size(),
                                      nullptr) != LIBDEFLATE_SUCCESS)
      return Unexpected{"is damaged: " + file.name};
  } else {
    return Unexpected{"has " + file.name + " in a format other than deflate"};
  }
  if (text.size() != file.bytes || libdeflate_crc32(0, text.data(), text.size()) != file.checksum)
    return Unexpected{"is damaged: " + file.name};
  return text;
}

Expected<os::Parts, std::string> parts_of(const std::string& name) {
  os::Parts parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
    if (os::names_nothing(parts.back()) || parts.back().size() > os::part_bytes_max ||
        parts.size() > depth_max)
      return Unexpected{"has a file with the name " + name.substr(0, os::part_bytes_max) +
                        ", which cannot be a file of a directory"};
  }
  return parts;
}

// The error continues a sentence.
Expected<std::string, std::string> archive_text(const std::string& archive) {
  std::error_code error;
  const auto size = fs::file_size(os::path_of(archive), error);
  if (error) return Unexpected{"cannot be read: " + os::reason(error)};
  if (size > unpacked_bytes_max) return Unexpected{std::string("is larger than 250 MB")};
  std::ifstream stream(os::path_of(archive), std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(stream)), {});
}

}  // namespace

std::optional<std::string> unzipped_file(const std::string& archive, const std::string& name) {
  const auto text = archive_text(archive);
  const auto files = text ? packed_files(*text) : Expected<std::vector<Packed>, std::string>(damaged);
  const Inflater inflater(libdeflate_alloc_decompressor());
  if (!files || !inflater) return std::nullopt;
  for (const Packed& packed : *files)
    if (packed.name == name) {
      auto content = unpacked(packed, *inflater);
      return content ? std::optional(*std::move(content)) : std::nullopt;
    }
  return std::nullopt;
}

Expected<void, std::string> unzip(const std::string& archive, const std::string& directory) {
  const auto failed = [&](const std::string& why) { return Unexpected{archive + " " + why}; };
  const auto text = archive_text(archive);
  if (!text) return failed(text.error());
  const auto files = packed_files(*text);
  if (!files) return failed(files.error());

  std::error_code error;
  const Inflater inflater(libdeflate_alloc_decompressor());
  if (!inflater) return failed("cannot be unpacked for lack of memory");
  const os::Directory root = os::Directory::open(directory, error);
  if (error) return Unexpected{directory + ": " + os::reason(error)};
  std::size_t directories = 0;
  for (const Packed& packed : *files) {
    const auto parts = parts_of(packed.name);
    if (!parts) return failed(parts.error());
    directories += parts->size() - 1;
    if (directories > directories_max) return failed("has too many directories");
    const auto content = unpacked(packed, *inflater);
    if (!content) return failed(content.error());
    const os::Directory parent = os::open_parent(root, *parts, true, error);
    const os::HowToOpen how{.access = os::Access::write, .make = os::Make::must_be_new};
    os::File file;
    if (!error) file = parent.open_file(parts->back(), how, error);
    if (error == std::errc::file_exists) {  // some archives have a name twice; the last one counts
      parent.remove(parts->back(), error);
      if (!error) file = parent.open_file(parts->back(), how, error);
    }
    if (!error) file.write(*content, error);
    if (!error) file.close(error);
    const fs::path path = os::path_of(directory) / os::path_of(packed.name);
    if (!error && packed.is_executable)
      fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, error);
    if (error) return Unexpected{os::text_of(path) + ": " + os::reason(error)};
  }
  return {};
}

}  // namespace mayfly::deployment
