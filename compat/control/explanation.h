// Explains why an item still exists and when it expires, or why it does not exist (explain.cc).
//
//   explain(table, stored, last, now, "Its TTL").message
//   -> "Its TTL is a string (\"soon\"), so it never expires; use a Number."
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/items/cursor.h"
#include "engine/schema/table.h"
#include "engine/tables/catalog.h"
#include "engine/time/expiry_stats.h"

namespace mayfly::compat::control {

struct Explanation {
  std::string_view reason;
  std::optional<engine::Instant> expires_at;
  std::string message;
};

// `last` is the last deletion of the item by its TTL, if known. `ttl` is the message's name for the item's
// TTL.
Explanation explain(const engine::Table& table, const std::optional<engine::StoredItem>& stored,
                    const std::optional<engine::ExpiryStats::Deletion>& last, engine::Instant now,
                    std::string_view ttl);

}  // namespace mayfly::compat::control
