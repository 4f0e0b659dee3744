// Item <-> stored bytes.
//
//   stored := size:u32le count:varint (name value)*        attributes sorted by name
//   The implementer draws the rest here.
//
// `size` is item_size(item), so that counters and capacity need no decoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/attribute_value.h"

namespace mayfly::engine {

void encode_item(const Item& item, std::string& out);         // appends
Item decode_item(std::string_view stored);                    // asserts that the bytes are encode_item's
std::uint32_t stored_item_size(std::string_view stored);      // item_size without decoding

}  // namespace mayfly::engine
