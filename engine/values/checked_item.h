// Decodes items from bytes that may be damaged or hostile.
//
// item_codec's decoder trusts its bytes. That is right for bytes that this process has written and read back
// under a checksum. The verification of a data directory trusts nothing: here, every count and length is
// compared with the available bytes before it is used, and a decoded item is one that encodes to exactly
// these bytes.
//
//   auto item = checked_item(bytes);
//   if (!item) … item.error() …          // "a number is not normalized at byte 17"
#pragma once

#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

// Maximum nesting of values. DynamoDB allows 32 levels, and descriptions have fewer.
inline constexpr int stored_depth_max = 64;

// The error is a human-readable description of the flaw. Never reads outside the bytes, whatever they are.
Expected<Item, std::string> checked_item(std::string_view stored);

}  // namespace mayfly::engine
