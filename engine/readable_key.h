// Encoded keys for people: `id="a", at=5`. A key that cannot be one stands there byte by byte, in hexadecimal
// digits. What is in a text stays as it is: who shows it sees to what cannot be printed.
#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"

namespace mayfly::engine {

// Of an item; reads nothing outside of the key, whatever it is.
std::string readable_key(const KeySchema& keys, std::string_view encoded);
// Of an index's entry: the index's attributes, then the table's.
std::string readable_entry(const Table& table, const Index& index, std::string_view encoded);
// Of any bytes.
std::string hexadecimal(std::string_view bytes);

}  // namespace mayfly::engine
