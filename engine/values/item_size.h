// The size of an item in bytes, as DynamoDB counts it. Limits, pages and capacity units are based
// on this size.
//
// Rules: "Amazon DynamoDB item sizes and formats" in AWS's developer guide. Names count their UTF-8 bytes;
// strings and binaries count their bytes; a number counts about one byte per two significant digits, plus
// one; null and boolean count 1; a list or map counts 3, plus 1 per element, plus the sizes of its elements.
#pragma once

#include <cstddef>

#include "engine/values/attribute_value.h"

namespace mayfly::engine {

inline constexpr std::size_t item_bytes_max = 400 * 1024;
inline constexpr std::size_t container_bytes = 3, element_bytes = 1;  // per list or map; per element

std::size_t number_size(const Number& number);
std::size_t value_size(const AttributeValue& value);
std::size_t item_size(const Item& item);  // names included

}  // namespace mayfly::engine
