// Formats encoded keys for people: `id="a", at=5`. A malformed key is shown as hexadecimal bytes. Strings are
// not escaped; a caller that displays them must handle unprintable characters.
#pragma once

#include <string>
#include <string_view>

#include "engine/schema/table.h"

namespace mayfly::engine {

// Formats an item's key. Reads nothing beyond `encoded`, even if it is malformed.
std::string readable_key(const KeySchema& keys, std::string_view encoded);
// Formats the key of an index entry: first the key attributes of the index, then those of the table.
std::string readable_entry(const Table& table, const Index& index, std::string_view encoded);
// Formats any bytes, with a leading "0x".
std::string hexadecimal(std::string_view bytes);

}  // namespace mayfly::engine
