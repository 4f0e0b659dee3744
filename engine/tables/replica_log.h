// The data that a global table stores in addition to its items: the version of each item, and the writes that
// are in flight to other regions.
//
// Every write has a version. In every region, the write with the highest version wins, in whichever order the
// writes arrive. The version is derived from the number of the write's stream record. So versions follow the
// order of writes in all regions of an account, and no two versions are equal. (Timestamps would not work on
// a frozen clock, because all timestamps would be equal.) The version of a deletion is kept in a tombstone
// until no older write is in flight. The removal of an expired item gets a version just above that of the
// item, so the removal never overrides a later write.
//
//   'W' table:u32 key                          version:u64le origin:u32le tombstone:u64le
//                                              origin: the table that the item was first written to;
//                                              tombstone: 0, or the sequence under 'Y'
//   'Y' table:u32 sequence:u64 key             empty; the tombstones in the order of their creation
//   'F' from:u32 to:u32 sequence:u64           at:i64le version:u64le origin:u32le key_bytes:u32le key item
//                                              a write in flight; no item: a deletion
//
// An item that was written before its table had replicas has no version. A missing version counts as the
// lowest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/watermark.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class Batch;

struct WriteVersion {
  std::uint64_t number = 0;  // 0 if the item was written before the table had replicas
  // The table to which the item was first written. 0: this table, at a time when it had no replicas.
  TableId origin = 0;
  Sequence tombstone = 0;  // 0 if the item exists
  static std::uint64_t of_write(Sequence sequence) { return sequence * 2; }
  // Returns the version for the removal of an expired item that has version `expired`.
  static std::uint64_t of_expiry(std::uint64_t expired) { return expired | 1; }
  [[nodiscard]] bool gone() const { return tombstone != 0; }
};

std::string write_version_key(TableId table, std::string_view key);
std::string encode_version(const WriteVersion& version);
std::optional<WriteVersion> decode_version(std::string_view bytes);  // nullopt: the bytes are malformed

std::string tombstone_key(TableId table, Sequence sequence, std::string_view key);
std::string_view tombstone_item_key(std::string_view tombstone_key);

// A write in flight. Its views point into the bytes that it was decoded from.
struct Departure {
  Instant at = 0;  // the time of the write, by the account's clock
  std::uint64_t version = 0;
  TableId origin = 0;
  std::string_view key;
  std::string_view item;  // encoded by item_codec; empty for a deletion
};
std::string departures_prefix(TableId from, TableId to);
std::string departure_key(TableId from, TableId to, Sequence sequence);
std::string encode_departure(const Departure& departure);
std::optional<Departure> decode_departure(std::string_view bytes);  // nullopt: the bytes are malformed

// A write to an item of a global table. The committer assigns the write's sequence number.
struct ReplicaWrite {
  TableId table = 0;
  std::string key;
  std::optional<std::size_t> record;     // the index of the staged stream record, if there is one
  std::optional<std::uint64_t> version;  // nullopt: it is derived from the sequence number
  TableId origin = 0;
  std::string_view item;    // empty: a deletion
  std::vector<TableId> to;  // the replicas that the write is sent to
};
// Adds the version, the tombstone and the departures of the write to the batch. `sequence` is the number of
// the write's stream record or, without a record, the last number that was assigned.
void stage(Batch& batch, const ReplicaWrite& write, Sequence sequence, Instant at);

// Whether `other` is a replica of the table, that is, a table in another region that belongs to the same
// global table.
bool has_replica(const Table& table, TableId other);

// Whether the items that were first written to `origin` expire in this table. Each item expires in only one
// region: the region in which it was first written or, if that region no longer has a replica, the region of
// the oldest replica. The removal is then replicated to the other regions.
bool expires_here(const Table& table, TableId origin);

}  // namespace mayfly::engine
