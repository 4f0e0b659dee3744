// Converts items to and from plain JSON, without DynamoDB's types: {"id":"7","ttl":1924992000} stands for
// {"id":{"S":"7"},"ttl":{"N":"1924992000"}}.
//
//   write_types(request);   // Item, Key, ExpressionAttributeValues, Parameters, … at any depth
//   drop_types(answer);     // Item, Items, Attributes, LastEvaluatedKey, …
//
// Types that JSON does not have are lost in responses and cannot be written in requests
// (compat/wire/plain_values.h). Requires: the trees were parsed with Decimals::as_written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compat/json/json_tree.h"

namespace mayfly::compat::mcp {

void write_types(json::Tree& request);
void drop_types(json::Tree& answer);

}  // namespace mayfly::compat::mcp
