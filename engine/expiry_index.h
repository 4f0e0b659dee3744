// What expires when, on disk: an ordered key space with one entry per item that will expire.
//
//   'X' table:u32be window:u64be due:u64be key   -> nothing
//
// `due` is the first millisecond strictly after the item's TTL value; `window` is the start of the fixed span
// that `due` falls in; `key` is the item's encoded key. An entry is written, moved and erased in the batch of
// its item's write, and never trusted: who deletes an item asks `is_expired` again, under the item's lock.
//
// The rule is DynamoDB's ("How it works: DynamoDB TTL", and Alternator's tests against AWS): the attribute is
// a Number of epoch seconds, less than now, and not over five years less; anything else never expires.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::engine {

// In storage, u64le: the span of a window in ms. Entries keep the one that they were made with.
inline constexpr std::string_view expiry_window_key = "Mexpiry-window";

inline constexpr std::int64_t expiry_age_ms_max = 157'784'760'000;  // five years

// floor(ttl * 1000) + 1, exactly; nothing if the table has no TTL, or the item has no value that can ever
// expire. After the year 9999 nothing expires: such a value was meant as milliseconds.
std::optional<Instant> due_of(const Table& table, const Item& item);
std::optional<Instant> due_of_stored(const Table& table, std::string_view stored);  // item_codec's bytes

// Too old to expire, now and ever after.
inline bool is_too_old(Instant due, Instant now) { return due <= now - expiry_age_ms_max; }
inline bool is_expired(Instant due, Instant now) { return due <= now && !is_too_old(due, now); }

// Keys and positions in the index, given the span of its windows.
class ExpiryIndex {
 public:
  explicit ExpiryIndex(std::int64_t window_ms) : window_ms_(window_ms) {}

  [[nodiscard]] std::int64_t window_ms() const { return window_ms_; }
  [[nodiscard]] Instant window_of(Instant due) const { return due - due % window_ms_; }
  [[nodiscard]] std::string entry_key(TableId table, Instant due, std::string_view item_key) const;
  // Every entry due at `due` or later sorts at or after this, every other before.
  [[nodiscard]] std::string position(TableId table, Instant due) const { return entry_key(table, due, {}); }

  // Whether a key of kind 'X' has the bytes that the two below read, and an instant that can be due.
  static bool is_entry(std::string_view key);
  static Instant due_in(std::string_view entry_key);
  static std::string_view item_key_in(std::string_view entry_key);

 private:
  std::int64_t window_ms_;
};

}  // namespace mayfly::engine
