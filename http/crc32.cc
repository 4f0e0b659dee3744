#include "http/crc32.h"

#include <libdeflate.h>

namespace mayfly::http {

std::uint32_t crc32(std::string_view bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());  // by carry-less multiplication, where there is one
}

}  // namespace mayfly::http
