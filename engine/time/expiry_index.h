// The expiry index: an ordered key space in storage with one entry for each item that will expire, and one
// for each item that has a TTL but never expires.
//
//   'X' table:u32be window:u64be due:u64be key                    -> nothing
//   'X' table:u32be 2^64-1:u64be (2^64-256 + reason):u64be key    -> nothing: the item never expires
//
// `due` is the first millisecond strictly after the item's TTL value; `window` is the start of the
// fixed-length window that contains `due`; `key` is the item's encoded key. An entry is written, moved and
// erased in the same batch as its item's write. Entries are never trusted: before an item is deleted,
// `is_expired` is checked again under the item's lock.
//
// The entries of items that never expire let users find wrong TTLs. Because these entries have the same
// format as other entries, overwrites, deletions, backfills, snapshots, restores and restarts need no
// additional code for them. They cost nothing if all TTLs are valid. For each reason, a counter holds the
// number of these items.
//
// The rule is DynamoDB's ("How it works: DynamoDB TTL", and Alternator's tests against AWS): an item expires
// if its TTL attribute is a Number of epoch seconds that is less than now, and at most five years less. An
// item with any other TTL value never expires.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

// A storage key. Its value, an i64le, is the length of a window in ms. It is stored when the database is
// created and does not change afterwards, because the keys of entries depend on it.
inline constexpr std::string_view expiry_window_key = "Mexpiry-window";

inline constexpr std::int64_t expiry_age_ms_max = 157'784'760'000;  // five years

// Returns floor(ttl * 1000) + 1, computed exactly; nullopt if the table has no TTL, or if the item's TTL
// value can never expire the item. Values after the year 9999 never expire an item, because they were meant
// as milliseconds.
std::optional<Instant> due_of(const Table& table, const Item& item);
std::optional<Instant> due_of_stored(const Table& table, std::string_view stored);  // item_codec's bytes

// Whether the item is too old to expire, now and at any later time.
inline bool is_too_old(Instant due, Instant now) { return due <= now - expiry_age_ms_max; }
inline bool is_expired(Instant due, Instant now) { return due <= now && !is_too_old(due, now); }

// Why an item that has the TTL attribute never expires. The numbers of the enumerators are stored.
enum class NeverReason : std::uint8_t {
  milliseconds = 1,  // after the year 9999: meant as milliseconds or a finer unit
  string,
  wrong_type,  // neither a Number nor a String
  too_old,     // negative, or over five years old when the item was written or swept
};
inline constexpr std::array never_reasons{NeverReason::milliseconds, NeverReason::string,
                                          NeverReason::wrong_type, NeverReason::too_old};
// The reason's index in `never_reasons`.
inline std::size_t never_place(NeverReason reason) { return static_cast<std::size_t>(reason) - 1; }
using NeverCounts = std::array<std::int64_t, never_reasons.size()>;  // item counts, by never_place
inline IndexId never_counter(NeverReason reason) {
  return static_cast<IndexId>(never_expiring + static_cast<IndexId>(reason));
}

// What an item's TTL attribute means. Both members are empty if the item lacks the attribute or the table has
// no TTL.
struct TtlValue {
  std::optional<Instant> due;
  std::optional<NeverReason> never;  // applies at any time
  friend bool operator==(const TtlValue&, const TtlValue&) = default;

  // The reason as of `now`: an item that was due may have become too old.
  [[nodiscard]] std::optional<NeverReason> never_at(Instant now) const {
    return due && is_too_old(*due, now) ? NeverReason::too_old : never;
  }
};
TtlValue ttl_of(const Table& table, const Item& item);
TtlValue ttl_of_stored(const Table& table, std::string_view stored);  // item_codec's bytes

// Makes and reads keys of the index, for a given window length.
class ExpiryIndex {
 public:
  explicit ExpiryIndex(std::int64_t window_ms) : window_ms_(window_ms) {}

  [[nodiscard]] std::int64_t window_ms() const { return window_ms_; }
  [[nodiscard]] Instant window_of(Instant due) const { return due - due % window_ms_; }
  [[nodiscard]] std::string entry_key(TableId table, Instant due, std::string_view item_key) const;
  // Every entry of the table that is due at `due` or later sorts at or after this position, and every entry
  // that is due earlier sorts before it.
  [[nodiscard]] std::string position(TableId table, Instant due) const { return entry_key(table, due, {}); }

  // Whether a key of kind 'X' is long enough for the two functions below and has a valid due instant.
  static bool is_entry(std::string_view key);
  static Instant due_in(std::string_view entry_key);
  static std::string_view item_key_in(std::string_view entry_key);

  // never_key() returns the key of the entry of an item that never expires. In each table, these entries
  // start at never_begin(); entries of items that will expire sort before that position.
  static std::string never_key(TableId table, NeverReason reason, std::string_view item_key);
  static std::string never_begin(TableId table);
  // nullopt if the entry belongs to an item that will expire, or is malformed.
  static std::optional<NeverReason> never_in(std::string_view entry_key);

 private:
  std::int64_t window_ms_;
};

}  // namespace mayfly::engine
