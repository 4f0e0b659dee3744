// How a table is laid out for sweeping: which attributes say when an item is to be looked at, and where in
// the index that puts it.
//
//   {"id":{"S":"1"},"ttl":{"N":"1700000052"},            the item's TTL, which alone says when it expires
//    "sweep_window":{"S":"1700000040#7"},                 the index's partition key: window and shard
//    "sweep_at":{"N":"1700000052"}}                       its sort key: when to look at the item
//
// A window is named by its beginning, and holds what is due from then until before the next one's beginning;
// so each instant is in one window, whatever the names. docs/sweep.md says what writers set, and why.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/json_tree.h"
#include "engine/clock.h"

namespace mayfly::sweep {

using json::Tree;

struct Layout {
  std::string table;
  std::string ttl_attribute;
  std::string index = "sweep";
  std::string window_attribute = "sweep_window";
  // May be the TTL's: then writers set one attribute less, and each renewal writes to the index.
  std::string at_attribute = "sweep_at";
  std::int64_t window_seconds = 60;
  int shards = 16;

  [[nodiscard]] bool looks_by_ttl() const { return at_attribute == ttl_attribute; }
};

inline constexpr std::int64_t window_seconds_max = 24 * 3600;
inline constexpr int shards_max = 1000;

// The beginning of the window that a second lies in, in seconds since the epoch.
std::int64_t window_of(std::int64_t second, std::int64_t window_seconds);

struct Place {
  std::int64_t window = 0;
  int shard = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
std::string place_text(const Place& place);               // "1700000040#7"
std::optional<Place> parse_place(std::string_view text);  // nothing: it is none

// A Number's text, as DynamoDB prints it -> the first millisecond at which an item of this TTL has expired:
// floor(ttl * 1000) + 1. Nothing: no such TTL ever passes (it is no number, or after the year 9999).
std::optional<engine::Instant> due_of(std::string_view ttl);
// The second that it lies in, for its window.
inline std::int64_t second_of(engine::Instant due) { return (due - 1) / 1000; }

// Where an item of this TTL belongs: the window of its TTL, or of `now` if that has passed.
Place place_of(engine::Instant due, engine::Instant now, int shard, const Layout& layout);

// Milliseconds as a Number's text in seconds: "1700000052.001".
std::string seconds_text(engine::Instant instant);

// An attribute's value, where it is of this type: "S", "N". Nothing: `item` has no such.
std::optional<std::string_view> attribute(const Tree& item, std::string_view name, std::string_view type);
bool same_number(std::string_view one, std::string_view other);

}  // namespace mayfly::sweep
