// Lists every kind of key in storage. All integers in keys are big-endian, so that keys sort in numeric
// order.
//
//   'I' table:u32 index:u16 key              item (index 0): item_codec's bytes
//                                            index entry: the item's own encoded key; `key` is then
//                                            the entry's (index_entries.h)
//   'X' table:u32 window:u64 due:u64 key     nothing: the key says when an item expires, or that
//                                            it never expires (expiry_index.h)
//   'O' table:u32 key number:u64             an item's state before the commit with this number
//                                            (history.h)
//   'P' point:u32                            a past state of a table that can be read (points.h)
//   'S' stream:u32 shard:u32 sequence:u64    change record (change_log.cc)
//   'T' table:u32                            table's description, as an item (table.h)
//   'R' stream:u32                           stream's description, as an item
//   'N' table:u32 index:u16                  items:i64le bytes:i64le, as DescribeTable counts them; for index
//                                            `expiry_entries`: items that will expire, and 0; for
//                                            `never_counter`s: items that never expire, and 0; for
//                                            `old_versions`: keys of kind 'O', and their bytes
//   'C' account                              clock and jumps (account.h)
//   'Q', 'U'                                 tokens of idempotent requests (request_tokens.h)
//   'G', 'H', 'J', 'K', 'E', 'L'             snapshots of accounts (snapshots.h)
//   'B' log:u32 key                          a key's value when a snapshot was taken (before_images.h)
//   'D' account 0 kind 0 name                small documents of the layers above (documents.h)
//   'W', 'Y', 'F'                            versions, tombstones and departures of global tables
//                                            (replica_log.h)
//   'M' name                                 numbers, little-endian: the next ids, the window length, ...
//
// `key` is encoded by key_codec. The range of a kind or a table is [prefix, prefix_end(prefix)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/byte_order.h"
#include "engine/base/watermark.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

inline constexpr std::size_t table_prefix_bytes = 1 + 4;
inline constexpr std::size_t item_prefix_bytes = table_prefix_bytes + 2;

// A storage key. Its value is a u64le that is at least as high as every sequence number of forgotten streams.
inline constexpr std::string_view last_sequence_key = "Msequence";
// A storage key. Its value, a u64le, is the last number that is used by an old version of an item in a data
// directory (committer.h) or by a tombstone without a record. Only the commit section writes the value, so it
// never decreases.
inline constexpr std::string_view last_version_key = "Mlast-version";

inline std::string table_prefix(char kind, TableId table) {
  std::string key(1, kind);
  append_big_endian(key, table);
  return key;
}

inline void append_item_key(std::string& out, TableId table, IndexId index, std::string_view key) {
  out.push_back('I');
  append_big_endian(out, table);
  append_big_endian(out, index);
  out.append(key);
}

inline std::string item_key(TableId table, IndexId index, std::string_view key) {
  std::string out;
  out.reserve(item_prefix_bytes + key.size());
  append_item_key(out, table, index, key);
  return out;
}

inline constexpr std::size_t shard_prefix_bytes = table_prefix_bytes + 4;

inline std::string shard_prefix(StreamId stream, ShardNumber shard) {
  std::string key = table_prefix('S', stream);
  append_big_endian(key, shard);
  return key;
}

inline std::string record_key(StreamId stream, ShardNumber shard, std::uint64_t sequence) {
  std::string key = shard_prefix(stream, shard);
  append_big_endian(key, sequence);
  return key;
}

inline constexpr std::size_t record_key_bytes = shard_prefix_bytes + 8;

inline std::uint64_t record_sequence(std::string_view record_key) {
  return read_big_endian<std::uint64_t>(record_key.substr(shard_prefix_bytes));
}

inline constexpr std::size_t version_prefix_bytes = table_prefix_bytes;

inline std::size_t version_key_bytes(std::string_view key) {
  return version_prefix_bytes + key.size() + sizeof(std::uint64_t);
}

inline std::string version_key(TableId table, std::string_view key, std::uint64_t number) {
  std::string out;
  out.reserve(version_key_bytes(key));
  out.push_back('O');
  append_big_endian(out, table);
  out.append(key);
  append_big_endian(out, number);
  return out;
}

// Whether a key of kind 'O' is long enough to contain an item's key and a number. The next two functions
// require such a key.
inline bool is_version_key(std::string_view key) {
  return key.size() > version_prefix_bytes + sizeof(std::uint64_t);
}
inline std::uint64_t version_number(std::string_view version_key) {
  return read_big_endian<std::uint64_t>(version_key.substr(version_key.size() - sizeof(std::uint64_t)));
}
inline std::string_view version_item_key(std::string_view version_key) {
  version_key.remove_suffix(sizeof(std::uint64_t));
  return version_key.substr(version_prefix_bytes);
}

inline constexpr std::size_t tombstone_head_bytes = table_prefix_bytes + sizeof(Sequence);
inline constexpr std::size_t departure_key_bytes = table_prefix_bytes + sizeof(TableId) + sizeof(Sequence);

// Whether a key of kind 'W', 'Y' or 'F' has a valid length.
inline bool is_replica_key(std::string_view key) {
  if (key.empty()) return false;
  switch (key.front()) {
    case 'W': return key.size() > table_prefix_bytes;
    case 'Y': return key.size() > tombstone_head_bytes;
    case 'F': return key.size() == departure_key_bytes;
    default: return false;
  }
}
// The sequence number in a key of kind 'F' or 'Y'.
inline Sequence replica_sequence(std::string_view key) {
  return read_big_endian<Sequence>(
      key.substr(key.front() == 'F' ? table_prefix_bytes + sizeof(TableId) : table_prefix_bytes));
}

inline constexpr std::size_t counter_bytes = 2 * sizeof(std::int64_t);

inline std::string counter_key(TableId table, IndexId index) {
  std::string key = table_prefix('N', table);
  append_big_endian(key, index);
  return key;
}

}  // namespace mayfly::engine
