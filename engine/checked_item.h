// Items out of bytes that may be damaged, or hostile.
//
// item_codec's decoder trusts its bytes, which is right for what this process has written and read back by a
// checksum. Who looks a directory over trusts nothing: here every count and length is held against what is
// there before it is believed, and what comes out is an item whose encoding is these bytes and no others.
//
//   auto item = checked_item(bytes);
//   if (!item) … item.error() …          // "its number at byte 17 has trailing zeros"
#pragma once

#include <string>
#include <string_view>

#include "engine/attribute_value.h"
#include "engine/expected.h"

namespace mayfly::engine {

// Values within values; DynamoDB has 32 of them, and descriptions fewer.
inline constexpr int stored_depth_max = 64;

// The error says what is wrong with the bytes, for people. Reads nothing outside of them, whatever they are.
Expected<Item, std::string> checked_item(std::string_view stored);

}  // namespace mayfly::engine
