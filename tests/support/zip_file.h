// Makes ZIP files, also damaged ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::testing {

struct ZipEntry {
  std::string name, content;
  unsigned mode = 0100644;  // Unix's kind of file and permissions
  unsigned flags = 0;       // 1: encrypted
  bool is_deflated = true;
  std::uint32_t bytes = 0;     // 0: as many as the content has
  std::uint32_t checksum = 0;  // 0: that of the content
};

std::string zip_file(const std::vector<ZipEntry>& entries);

}  // namespace mayfly::testing
