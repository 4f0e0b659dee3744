#include "tests/support/zip_file.h"

#include <libdeflate.h>

namespace mayfly::testing {

namespace {

void two(std::string& to, std::uint32_t number) {
  to += static_cast<char>(number & 0xff);
  to += static_cast<char>(number >> 8 & 0xff);
}
void four(std::string& to, std::uint32_t number) {
  two(to, number & 0xffff);
  two(to, number >> 16);
}

std::string deflated(const std::string& text) {
  auto* const compressor = libdeflate_alloc_compressor(6);
  std::string packed(libdeflate_deflate_compress_bound(compressor, text.size()), '\0');
  packed.resize(
      libdeflate_deflate_compress(compressor, text.data(), text.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  return packed;
}

}  // namespace

std::string zip_file(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.is_deflated ? deflated(entry.content) : entry.content;
    const auto content_bytes = static_cast<std::uint32_t>(entry.content.size());
    const auto offset = static_cast<std::uint32_t>(file.size());
    std::string facts;  // that both headers have
    two(facts, entry.flags);
    two(facts, entry.is_deflated ? 8 : 0);
    four(facts, 0);  // the time
    four(facts, entry.checksum != 0 ? entry.checksum
                                    : libdeflate_crc32(0, entry.content.data(), entry.content.size()));
    four(facts, static_cast<std::uint32_t>(packed.size()));
    four(facts, entry.bytes != 0 ? entry.bytes : content_bytes);
    two(facts, static_cast<std::uint32_t>(entry.name.size()));
    two(facts, 0);  // no extra fields
    file += "PK\3\4";
    two(file, 20);
    file += facts + entry.name + packed;
    directory += "PK\1\2";
    two(directory, 3 << 8 | 20);
    two(directory, 20);
    directory += facts;
    two(directory, 0);   // no comment
    four(directory, 0);  // the disk, and internal attributes
    four(directory, entry.mode << 16);
    four(directory, offset);
    directory += entry.name;
  }
  const auto offset = static_cast<std::uint32_t>(file.size());
  file += directory + "PK\5\6";
  four(file, 0);
  two(file, static_cast<std::uint32_t>(entries.size()));
  two(file, static_cast<std::uint32_t>(entries.size()));
  four(file, static_cast<std::uint32_t>(directory.size()));
  four(file, offset);
  two(file, 0);
  return file;
}

}  // namespace mayfly::testing
