// Messages about items whose TTL can never expire them.
//
//   never_name(engine::NeverReason::string)     // "string"
//   why_never(ttl, engine::NeverReason::string)
//       // "is a string (\"soon\"), so it never expires; use a Number."
//   plain_key(table.keys, key)                  // {"id": "1"}
//
// Long attribute values are shortened, at a character boundary, to keep the messages short.
#pragma once

#include <string>
#include <string_view>

#include "engine/schema/table.h"
#include "engine/time/expiry_index.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

std::string_view never_name(engine::NeverReason reason);
// Returns the predicate of a sentence. The caller puts the subject before it: "ttl " or "Its TTL ".
std::string why_never(const engine::AttributeValue& ttl, engine::NeverReason reason);
std::string plain_key(const engine::KeySchema& keys, const engine::Item& item);
// Returns the log line for an item that never expires.
std::string never_warning(const engine::Table& table, const engine::Item& key, engine::NeverReason reason,
                          const engine::AttributeValue& ttl);

}  // namespace mayfly::compat
