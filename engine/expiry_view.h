// Views of a table's expiry index for people: the next expiries, the number of items in each window, and
// overdue items.
//
//   for (const UpcomingExpiry& next : upcoming_expiries(database, *table, 10)) ...
//
// Each call sees one instant. It costs time for the entries that it looks at, starting at the table's low
// watermark.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/database.h"
#include "engine/ttl_suspects.h"

namespace mayfly::engine {

struct UpcomingExpiry {
  Item key;  // the item's key attributes
  Instant due;
  Instant fires;  // expiry_mode.h; `never`: on request
};
// In expiry order, at most `limit`.
std::vector<UpcomingExpiry> upcoming_expiries(Database& database, const LiveTable& table, std::size_t limit);

struct ExpiryWindow {
  // "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z": start (inclusive) and end (exclusive).
  std::string name;
  std::int64_t items;
};
// The first windows that contain items, at most `limit`. They are `window_ms` long, or as long as the index's
// own windows.
std::vector<ExpiryWindow> expiry_windows(Database& database, const LiveTable& table, std::size_t limit,
                                         std::optional<Instant> window_ms = {});

// Items that have a TTL but never expire, and items that were already due when they were written: latest
// write first, at most TtlSuspects::kept_max, without items that have been rewritten since. Writes from
// before a restart are not remembered; of these, the items that never expire are found in the index.
std::vector<TtlSuspect> ttl_suspects(Database& database, const LiveTable& table);

// Counts by table name, over all regions of the account. Tables without such items are omitted.
struct TtlMistakes {
  std::map<std::string, NeverCounts> never;      // items that have a TTL and never expire
  std::map<std::string, std::int64_t> born_due;  // items that were already due when they were written
};
// `born_due` counts items since the last call.
TtlMistakes take_ttl_mistakes(Database& database, std::string_view account);

struct ExpiryTotals {
  std::int64_t pending;  // entries in the index: items that will expire, or are due
  std::int64_t due;      // of these: the clock has reached `due`
  std::optional<Instant> next_due;
};
ExpiryTotals expiry_totals(Database& database, const LiveTable& table);

}  // namespace mayfly::engine
