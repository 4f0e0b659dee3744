// What the expiry index of a table holds, for people: what goes next, how many in each window, what is
// overdue.
//
//   for (const UpcomingExpiry& next : upcoming_expiries(database, *table, 10)) ...
//
// Each call sees one instant, and costs what it looks at, from the table's low watermark on.
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
  Instant fires;  // expiry_mode.h; `never`: when told
};
// In the order in which they go, at most `limit`.
std::vector<UpcomingExpiry> upcoming_expiries(Database& database, const LiveTable& table, std::size_t limit);

struct ExpiryWindow {
  // "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z": from, until; what is due in between.
  std::string name;
  std::int64_t items;
};
// The first windows that hold anything, at most `limit`; `window_ms` long, or as long as the index's own.
std::vector<ExpiryWindow> expiry_windows(Database& database, const LiveTable& table, std::size_t limit,
                                         std::optional<Instant> window_ms = {});

// Items that never expire though they have a TTL, and items that were due already when they were written: the
// latest written first, at most TtlSuspects::kept_max, without those that were written anew since. After a
// restart those that never expire are found in the index.
std::vector<TtlSuspect> ttl_suspects(Database& database, const LiveTable& table);

// By table name, in all regions of the account. Tables without such items are left out.
struct TtlMistakes {
  std::map<std::string, NeverCounts> never;      // items that have a TTL and never expire
  std::map<std::string, std::int64_t> born_due;  // items that were due already when they were written
};
// `born_due`: since the last call.
TtlMistakes take_ttl_mistakes(Database& database, std::string_view account);

struct ExpiryTotals {
  std::int64_t pending;  // entries in the index: all that will expire, or is due
  std::int64_t due;      // of them: the clock has passed it
  std::optional<Instant> next_due;
};
ExpiryTotals expiry_totals(Database& database, const LiveTable& table);

}  // namespace mayfly::engine
