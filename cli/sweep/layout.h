// The layout of a table for sweeping: the attributes that say when to examine an item, and the item's place
// in the index.
//
//   {"id":{"S":"1"},"ttl":{"N":"1700000052"},            the item's TTL, which alone decides when it expires
//    "sweep_window":{"S":"1700000040#7"},                 the index's partition key: window and shard
//    "sweep_at":{"N":"1700000052"}}                       its sort key: when to examine the item
//
// A window is named by its beginning, and covers the time until the next window begins. So each instant
// belongs to exactly one window. docs/sweep.md says what writers set, and why.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json_tree.h"
#include "engine/base/clock.h"

namespace mayfly::sweep {

using json::Tree;

struct Layout {
  std::string table;
  std::string ttl_attribute;
  std::string index = "sweep";
  std::string window_attribute = "sweep_window";
  // Can be the TTL attribute. Writers then set one attribute fewer, but each renewal writes to the index.
  std::string at_attribute = "sweep_at";
  std::int64_t window_seconds = 60;
  int shards = 16;

  [[nodiscard]] bool looks_by_ttl() const { return at_attribute == ttl_attribute; }
};

inline constexpr std::int64_t window_seconds_max = 24 * 3600;
inline constexpr int shards_max = 1000;

// The beginning of the window that contains `second`, in seconds since the epoch.
std::int64_t window_of(std::int64_t second, std::int64_t window_seconds);

struct Place {
  std::int64_t window = 0;
  int shard = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
std::string place_text(const Place& place);               // "1700000040#7"
std::optional<Place> parse_place(std::string_view text);  // nullopt: malformed

// The first millisecond at which an item with this TTL has expired: floor(ttl * 1000) + 1. `ttl` is a
// Number as DynamoDB prints it. nullopt if such a TTL never passes: it is not a number, or is after
// the year 9999.
std::optional<engine::Instant> due_of(std::string_view ttl);
// Returns the second that decides which window `due` belongs to.
inline std::int64_t second_of(engine::Instant due) { return (due - 1) / 1000; }

// Returns the place of an item that expires at `due`. The place's window contains `due`, or `now` if `due`
// has passed.
Place place_of(engine::Instant due, engine::Instant now, int shard, const Layout& layout);

// Formats an instant as a Number, in seconds: "1700000052.001".
std::string seconds_text(engine::Instant instant);

// Returns an attribute's value if the value has this type, such as "S" or "N", otherwise nullopt.
std::optional<std::string_view> attribute(const Tree& item, std::string_view name, std::string_view type);
bool same_number(std::string_view one, std::string_view other);

}  // namespace mayfly::sweep
