// What expires when, on disk: an ordered key space with one entry per item that will expire, and one per item
// that has a TTL and never will.
//
//   'X' table:u32be window:u64be due:u64be key                    -> nothing
//   'X' table:u32be 2^64-1:u64be (2^64-256 + reason):u64be key    -> nothing: it never expires
//
// `due` is the first millisecond strictly after the item's TTL value; `window` is the start of the fixed span
// that `due` falls in; `key` is the item's encoded key. An entry is written, moved and erased in the batch of
// its item's write, and never trusted: who deletes an item asks `is_expired` again, under the item's lock.
//
// Entries of items that never expire let users find such mistakes. Written as these entries are, they follow
// overwrites, deletions, backfills, snapshots, restores and restarts without code of their own, and cost
// nothing where TTLs are as they should be. Counters say how many there are of each reason.
//
// The rule is DynamoDB's ("How it works: DynamoDB TTL", and Alternator's tests against AWS): the attribute is
// a Number of epoch seconds, less than now, and not over five years less; anything else never expires.
#pragma once

#include <array>
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

// Why an item that has the TTL attribute never expires. Stored.
enum class NeverReason : std::uint8_t {
  milliseconds = 1,  // after the year 9999: meant as milliseconds, or as a finer unit
  string,
  wrong_type,  // neither a Number nor a String
  too_old,     // negative, or more than five years ago when it was written or met
};
inline constexpr std::array never_reasons{NeverReason::milliseconds, NeverReason::string,
                                          NeverReason::wrong_type, NeverReason::too_old};
// Of `never_reasons`.
inline std::size_t never_place(NeverReason reason) { return static_cast<std::size_t>(reason) - 1; }
using NeverCounts = std::array<std::int64_t, never_reasons.size()>;  // items, by never_place
inline IndexId never_counter(NeverReason reason) {
  return static_cast<IndexId>(never_expiring + static_cast<IndexId>(reason));
}

// The meaning of an item's TTL attribute. Both are empty if it has none, or if the table has no TTL.
struct TtlValue {
  std::optional<Instant> due;
  std::optional<NeverReason> never;  // whatever the time is
  friend bool operator==(const TtlValue&, const TtlValue&) = default;

  // The reason at this instant: an item that was due may have become too old.
  [[nodiscard]] std::optional<NeverReason> never_at(Instant now) const {
    return due && is_too_old(*due, now) ? NeverReason::too_old : never;
  }
};
TtlValue ttl_of(const Table& table, const Item& item);
TtlValue ttl_of_stored(const Table& table, std::string_view stored);  // item_codec's bytes

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

  // The entry of an item that never expires. `never_begin` is where a table's begin: entries of items that
  // will expire sort before it.
  static std::string never_key(TableId table, NeverReason reason, std::string_view item_key);
  static std::string never_begin(TableId table);
  // Nothing: it is an entry of an item that will expire, or malformed.
  static std::optional<NeverReason> never_in(std::string_view entry_key);

 private:
  std::int64_t window_ms_;
};

}  // namespace mayfly::engine
