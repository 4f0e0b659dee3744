// Human-readable views of a table's expiry index: the next expiries, the number of items in each window, and
// overdue items.
//
//   for (const UpcomingExpiry& next : expiries.upcoming(*table, 10)) ...
//
// Each call reads the state at one instant. It takes time proportional to the number of entries that it
// reads, starting at the table's low watermark.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/time/expiry_index.h"
#include "engine/time/ttl_suspects.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

class Catalog;
class LiveTable;
class Storage;

struct UpcomingExpiry {
  Item key;  // the item's key attributes
  Instant due;
  Instant fires;  // see expiry_mode.h; `never` if the item is deleted only on request
};

struct ExpiryWindow {
  // "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z": start (inclusive) and end (exclusive).
  std::string name;
  std::int64_t items;
};

struct ExpiryTotals {
  std::int64_t pending;  // entries in the index: items that will expire or are already due
  std::int64_t due;      // the pending items whose due instant the clock has reached
  std::optional<Instant> next_due;
};

class ExpiryView {
 public:
  // Requires: both arguments outlive this object.
  ExpiryView(const Storage& storage, const ExpiryIndex& index) : storage_(storage), index_(index) {}

  // Returns the next expiries in order, at most `limit`.
  [[nodiscard]] std::vector<UpcomingExpiry> upcoming(const LiveTable& table, std::size_t limit) const;
  // Returns the first windows that contain items, at most `limit`. Each window is `window_ms` long or,
  // without it, as long as the index's own windows.
  [[nodiscard]] std::vector<ExpiryWindow> windows(const LiveTable& table, std::size_t limit,
                                                  std::optional<Instant> window_ms = {}) const;
  // Returns items that have a TTL but never expire, and items that were already due when they were written.
  // At most TtlSuspects::kept_max items are returned, the most recently written item first. Items that were
  // later rewritten are omitted. Writes from before a restart are not remembered, but the index still lists
  // the items from that time that never expire.
  [[nodiscard]] std::vector<TtlSuspect> suspects(const LiveTable& table) const;
  [[nodiscard]] ExpiryTotals totals(const LiveTable& table) const;

 private:
  const Storage& storage_;
  const ExpiryIndex& index_;
};

// Item counts by table name, over all regions of the account. A table without items to count is omitted.
struct TtlMistakes {
  std::map<std::string, NeverCounts> never;      // items that have a TTL but never expire
  std::map<std::string, std::int64_t> born_due;  // items that were already due when they were written
  // The key attributes of these items, the latest first, as far as TtlSuspects keeps them.
  std::map<std::string, std::vector<Item>> born_due_keys;
};
// Returns the counts. `born_due` counts only items that were written since the last call.
TtlMistakes take_ttl_mistakes(const Catalog& catalog, std::string_view account);

}  // namespace mayfly::engine
