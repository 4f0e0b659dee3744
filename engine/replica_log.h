// What a global table keeps beside its items: which write each item is from, and the writes that are on their
// way to the other regions.
//
// Every write has a version, and the later one wins, wherever it arrives first. A version is the number of
// the write's stream record: the order in which an account's regions were written to, so that no two are
// equal. (Clocks would do as well, but for a frozen one, on which they are all equal.) Deletions leave their
// version behind as a tombstone, until nothing older is on its way. What deletes an item because its TTL has
// passed counts as the write that it deletes and no more: so it never takes a later one away.
//
//   'W' table:u32 key                          version:u64le origin:u32le tombstone:u64le
//                                              origin: the table that it was written to first;
//                                              tombstone: 0, or the sequence under 'Y'
//   'Y' table:u32 sequence:u64 key             nothing; the tombstones in the order in which they came
//   'F' from:u32 to:u32 sequence:u64           at:i64le version:u64le origin:u32le key_bytes:u32le key item
//                                              one write on its way; no item: a deletion
//
// An item that was there before its table had replicas has no version, which is less than any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "engine/table.h"
#include "engine/watermark.h"

namespace mayfly::engine {

class Batch;

struct WriteVersion {
  std::uint64_t number = 0;  // 0: from before there were replicas
  TableId origin = 0;        // 0: the table itself, from before
  Sequence tombstone = 0;    // 0: the item is there
  static std::uint64_t of_write(Sequence sequence) { return sequence * 2; }
  // Of the deletion of an expired item with this version.
  static std::uint64_t of_expiry(std::uint64_t expired) { return expired | 1; }
  [[nodiscard]] bool gone() const { return tombstone != 0; }
};

std::string write_version_key(TableId table, std::string_view key);
std::string encode_version(const WriteVersion& version);
std::optional<WriteVersion> decode_version(std::string_view bytes);  // nothing: they are none

std::string tombstone_key(TableId table, Sequence sequence, std::string_view key);
std::string_view tombstone_item_key(std::string_view tombstone_key);

// A write that is on its way. Its views are of the bytes that it was decoded from.
struct Departure {
  Instant at = 0;  // by the account's clock
  std::uint64_t version = 0;
  TableId origin = 0;
  std::string_view key;
  std::string_view item;  // item_codec's bytes; empty: it was deleted
};
std::string departures_prefix(TableId from, TableId to);
std::string departure_key(TableId from, TableId to, Sequence sequence);
std::string encode_departure(const Departure& departure);
std::optional<Departure> decode_departure(std::string_view bytes);  // nothing: they are none

// Whether a key of these kinds is as long as one is; and the number in it, of 'F' and 'Y'.
bool is_replica_key(std::string_view key);
Sequence replica_sequence(std::string_view key);

// One item's write in a global table, of which the committer knows the number.
struct ReplicaWrite {
  TableId table = 0;
  std::string key;
  std::optional<std::size_t> record;     // among the staged ones; nothing: the stream tells nobody
  std::optional<std::uint64_t> version;  // nothing: it is the record's
  TableId origin = 0;
  std::string_view item;    // empty: the item is gone
  std::vector<TableId> to;  // where it is sent
};
// Adds version, tombstone and departures. `sequence`: of its record, or the last that was given.
void stage(Batch& batch, const ReplicaWrite& write, Sequence sequence, Instant at);

// Whether the other one is a replica of the table: the same one in another region.
bool has_replica(const Table& table, TableId other);

// Whether the items that were written to `origin` first expire here. Each expires in one region, the one that
// it was written to, or, where that is none any more, in the eldest; the others are told.
bool expires_here(const Table& table, TableId origin);

}  // namespace mayfly::engine
