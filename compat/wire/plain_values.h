// Converts between plain JSON and DynamoDB JSON, for people and agents.
//
//   typed_value({"id":7})                 -> {"M":{"id":{"N":"7"}}}
//   plain_value({"SS":["a","b"]})         -> ["a","b"]
//
// Numbers keep their digits. Plain JSON has no sets and no binary values: they become lists and base64.
// Requires: the trees were parsed with Decimals::as_written.
#pragma once

#include "compat/json/json_tree.h"

namespace mayfly::compat {

// Whether the value is an object with one type and a value of that type. The elements of lists and maps are
// not checked.
bool is_typed_value(const json::Tree& value);

json::Tree typed_value(json::Tree plain);
// Values that are not typed values, and invalid numbers, stay unchanged.
json::Tree plain_value(json::Tree typed);

}  // namespace mayfly::compat
