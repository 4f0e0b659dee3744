// The checksum for x-amz-crc32: CRC-32 as in zlib and IEEE 802.3, over the body's bytes as they are sent.
//
//   crc32("healthy: dynamodb.us-east-1.amazonaws.com ") == 3128867991
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly::http {

std::uint32_t crc32(std::string_view bytes);

}  // namespace mayfly::http
