// The data that a global table stores in addition to its items: the version of each item, and the writes that
// are in flight to other regions.
//
// Every write has a version, and the write with the higher version wins in every region, whatever the order
// of arrival. The version is derived from the number of the write's stream record. So versions follow the
// order of writes in all regions of an account, and no two of them are equal. (Timestamps would work as well,
// except on a frozen clock, where all of them are equal.) A deletion keeps its version in a tombstone until
// no older write is in flight. The removal of an expired item gets a version just above that of the write
// that it removes, so it never removes a later write.
//
//   'W' table:u32 key                          version:u64le origin:u32le tombstone:u64le
//                                              origin: the table that the item was first written to;
//                                              tombstone: 0, or the sequence under 'Y'
//   'Y' table:u32 sequence:u64 key             empty; the tombstones in the order of their creation
//   'F' from:u32 to:u32 sequence:u64           at:i64le version:u64le origin:u32le key_bytes:u32le key item
//                                              a write in flight; no item: a deletion
//
// An item from before its table had replicas has no version, which counts as lower than any other.
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
  std::uint64_t number = 0;  // 0: written before the table had replicas
  TableId origin = 0;        // 0: the table itself, before it had replicas
  Sequence tombstone = 0;    // 0: the item exists
  static std::uint64_t of_write(Sequence sequence) { return sequence * 2; }
  // The version of the removal of an expired item that has version `expired`.
  static std::uint64_t of_expiry(std::uint64_t expired) { return expired | 1; }
  [[nodiscard]] bool gone() const { return tombstone != 0; }
};

std::string write_version_key(TableId table, std::string_view key);
std::string encode_version(const WriteVersion& version);
std::optional<WriteVersion> decode_version(std::string_view bytes);  // nullopt: they are malformed

std::string tombstone_key(TableId table, Sequence sequence, std::string_view key);
std::string_view tombstone_item_key(std::string_view tombstone_key);

// A write in flight. Its views point into the bytes that it was decoded from.
struct Departure {
  Instant at = 0;  // by the account's clock
  std::uint64_t version = 0;
  TableId origin = 0;
  std::string_view key;
  std::string_view item;  // encoded by item_codec; empty: a deletion
};
std::string departures_prefix(TableId from, TableId to);
std::string departure_key(TableId from, TableId to, Sequence sequence);
std::string encode_departure(const Departure& departure);
std::optional<Departure> decode_departure(std::string_view bytes);  // nullopt: they are malformed

// A write to an item of a global table, whose sequence number the committer assigns.
struct ReplicaWrite {
  TableId table = 0;
  std::string key;
  std::optional<std::size_t> record;     // index of the staged stream record; nullopt: there is none
  std::optional<std::uint64_t> version;  // nullopt: derived from the sequence number
  TableId origin = 0;
  std::string_view item;    // empty: a deletion
  std::vector<TableId> to;  // the replicas that the write is sent to
};
// Adds the version, the tombstone and the departures. `sequence`: that of the write's stream record or,
// without a record, the last one assigned.
void stage(Batch& batch, const ReplicaWrite& write, Sequence sequence, Instant at);

// Whether `other` is a replica of the table, that is, the same global table in another region.
bool has_replica(const Table& table, TableId other);

// Whether the items that were first written to `origin` expire in this table. Each item expires in one region
// only: the one that it was first written to or, if that is no longer a replica, the oldest one. The removal
// is then replicated to the others.
bool expires_here(const Table& table, TableId origin);

}  // namespace mayfly::engine
