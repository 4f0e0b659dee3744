// Decodes items from bytes that may be damaged or hostile.
//
// item_codec's decoder trusts its input. That is right for bytes that Mayfly has written and that a checksum
// protects. The verification of a data directory cannot trust its input: here, every count and length is
// compared with the available bytes before it is used, and decoding succeeds only if encode_item would
// produce exactly these bytes.
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

// The error is a human-readable description of the flaw. Never reads outside the bytes,
// whatever they contain.
Expected<Item, std::string> checked_item(std::string_view stored);

}  // namespace mayfly::engine
