// Items as plain JSON, for who would rather not write types: {"id":"7","ttl":1924992000} is
// {"id":{"S":"7"},"ttl":{"N":"1924992000"}}.
//
//   write_types(request);   // of a request: Item, Key, ExpressionAttributeValues, Parameters, … wherever
//   they are drop_types(answer);     // of an answer: Item, Items, Attributes, LastEvaluatedKey, …
//
// Numbers keep the digits that they were written with. What JSON does not have is lost on the way out and
// cannot be written: a set comes as a list, binary as its base64. Trees are those that parse_tree made
// as_written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compat/wire/json_tree.h"

namespace mayfly::compat::mcp {

void write_types(json::Tree& request);
void drop_types(json::Tree& answer);

}  // namespace mayfly::compat::mcp
