// The immutable description of a table: the settings that the engine uses (key schema, indexes, TTL, stream),
// and the opaque settings that upper layers store with the table. A change creates a new description;
// catalog.h explains how the new one replaces the old one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

using TableId = std::uint32_t;      // unique across accounts, never reused
using StreamId = std::uint32_t;     // unique across accounts, never reused
using ShardNumber = std::uint32_t;  // unique within a stream, never reused

// Unique among a table's indexes. Id 0 is the table itself.
using IndexId = std::uint16_t;
// The last id that an index can have. After this id has been assigned, ids that no index uses any longer are
// assigned again.
inline constexpr IndexId last_index_id = 0xfff9;
// Not an index id: the ids of the counters of items that never expire begin here. The id of a counter is this
// number plus its NeverReason (expiry_index.h).
inline constexpr IndexId never_expiring = 0xfff9;
// Not an index id: the id of the counter for old versions of a table's items (history.h) and their bytes.
inline constexpr IndexId old_versions = 0xfffe;
// Not an index id: the id of the counter of a table's entries in the expiry index.
inline constexpr IndexId expiry_entries = 0xffff;

enum class ScalarType : std::uint8_t { string, number, binary };

std::string_view type_name(ScalarType type);  // "S", "N", "B"
inline bool has_type(const AttributeValue& value, ScalarType type) {
  switch (type) {
    case ScalarType::string: return value.type() == Type::string;
    case ScalarType::number: return value.type() == Type::number;
    case ScalarType::binary: break;
  }
  return value.type() == Type::binary;
}

struct KeyAttribute {
  std::string name;
  ScalarType type;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;
};

inline constexpr std::size_t key_attributes_max = 4;  // for each of the two keys of a global index
class KeySchema {
 public:
  KeySchema() = default;
  KeySchema(std::vector<KeyAttribute> partition, const std::vector<KeyAttribute>& sort);

  // All key attributes, partition attributes first.
  [[nodiscard]] std::span<const KeyAttribute> all() const { return all_; }
  [[nodiscard]] std::span<const KeyAttribute> partition() const { return all().first(partition_size_); }
  [[nodiscard]] std::span<const KeyAttribute> sort() const { return all().subspan(partition_size_); }
  [[nodiscard]] bool names(std::string_view attribute) const;
  friend bool operator==(const KeySchema&, const KeySchema&) = default;

 private:
  std::vector<KeyAttribute> all_;
  std::size_t partition_size_ = 0;
};

struct Projection {
  enum class Kind : std::uint8_t { all, keys_only, include };
  Kind kind = Kind::all;
  std::vector<std::string> attributes;  // only for `include`
};

struct Index {
  enum class Kind : std::uint8_t { local, global };
  enum class State : std::uint8_t { creating, active };

  IndexId id = 0;
  std::string name;
  Kind kind = Kind::global;
  KeySchema keys;
  Projection projection;
  State state = State::active;  // in `creating`, writes maintain the index and reads are rejected
  Item settings;                // opaque, like Table::settings
};

struct TimeToLive {
  std::string attribute;
  bool backfilling = false;  // items written before TTL was enabled are still being indexed
  // Each time TTL is enabled, it gets a new number, so that a backfill for an earlier number cannot mark a
  // later backfill as finished.
  std::uint32_t number = 0;
  Instant since = 0;  // when TTL was enabled; no item had expired before that
  // Whether the expiry index also lists items that never expire. False until a backfill has added these
  // entries, which data directories of earlier Mayfly versions lack.
  bool lists_never = false;
};

// Point-in-time recovery of a table (history.h): old versions of its items are kept from `since` on, for the
// given number of days.
struct Recovery {
  Instant since = 0;
  std::int64_t days = 0;
  Instant given_up = 0;  // earlier versions are erased, and earlier instants cannot be restored
  friend bool operator==(const Recovery&, const Recovery&) = default;
};

// When expired items are deleted (expiry_mode.h).
struct ExpiryMode {
  enum class Kind : std::uint8_t {
    exact,   // immediately
    aws,     // after a delay, as on AWS; until then the item is an ordinary item
    manual,  // on request
  };
  Kind kind = Kind::exact;
  std::int64_t delay_ms_min = 600'000;  // used by `aws`; 10 to 28 minutes by default, as measured on AWS
  std::int64_t delay_ms_max = 1'680'000;
  std::uint64_t seed = 1;
  friend bool operator==(const ExpiryMode&, const ExpiryMode&) = default;
};

enum class StreamView : std::uint8_t { keys_only, new_image, old_image, new_and_old_images };

// A shard: the part of a stream that holds the records of some partitions, namely those whose key hash
// (partition_hash in key_codec.h) is in the shard's range. The ranges of the open shards cover all hashes
// without overlap. A shard that is closed while its stream is enabled has children that take over its hashes:
// either one child, or two with half of the range each.
struct Shard {
  struct Parent {
    ShardNumber number;
    Instant created;  // part of the parent's name; kept because the parent may be deleted first
    friend bool operator==(const Parent&, const Parent&) = default;
  };
  ShardNumber number = 0;
  std::optional<Parent> parent;
  Instant created = 0;  // later than the parent's, even on a frozen clock
  std::uint64_t first_hash = 0;
  std::uint64_t last_hash = ~std::uint64_t{0};
  std::uint64_t first_sequence = 0;            // no record of the shard has an earlier number
  std::uint64_t oldest_sequence = 0;           // records before this number were trimmed
  std::optional<Instant> closed;               // the shard is deleted 24 h later
  std::optional<std::uint64_t> last_sequence;  // set for a closed shard: no record has a later number
  friend bool operator==(const Shard&, const Shard&) = default;
};

// The range of records that a restore removed because they are later than the restored snapshot. Their
// sequence numbers are never reused.
struct Undoing {
  std::uint32_t number = 0;           // the number of the restore
  std::uint64_t first = 0, last = 0;  // the records' sequence numbers
  friend bool operator==(const Undoing&, const Undoing&) = default;
};

struct Stream {
  // The maximum size of `undone`. When `undone` is full, its oldest entry is dropped. A reader that has not
  // read since the restore of that entry then continues without an error.
  static constexpr std::size_t undone_max = 100;

  StreamId id = 0;
  TableId table = 0;
  std::string account, region, table_name;
  std::string label;  // "2024-11-18T14:36:44.149", unique even on a frozen clock
  StreamView view = StreamView::new_and_old_images;
  KeySchema keys;
  Instant created = 0;
  std::optional<Instant> disabled;  // when the stream was closed; it can be read for 24 h after that
  // Part of the names of shards and events. A restored stream keeps it but gets another id.
  std::uint32_t name = 0;
  // The ranges that restores removed from this stream and that no later restore brought back, sorted by
  // restore number.
  std::vector<Undoing> undone;
  std::vector<Shard> shards;  // sorted by number; the last shard of an enabled stream is open
  Item settings;              // opaque, like Table::settings

  [[nodiscard]] const Shard* find_shard(ShardNumber number) const;
  // Returns the open shard for this hash. Requires: the stream is enabled.
  [[nodiscard]] const Shard& open_shard(std::uint64_t partition_hash) const;
  // Whether a restore removed the record with this sequence number.
  [[nodiscard]] bool is_undone(std::uint64_t sequence) const;
  // Whether a reader whose next record is `next` has read records that were removed by a restore later than
  // `seen`.
  [[nodiscard]] bool has_lost(std::uint64_t next, std::uint32_t seen) const;
  // The number of the latest restore that removed records; 0 if no restore did.
  [[nodiscard]] std::uint32_t last_restore() const { return undone.empty() ? 0 : undone.back().number; }
};

// A replica of a global table: a table with the same account, name and keys in another region.
struct Replica {
  TableId table = 0;
  std::string region;
  friend bool operator==(const Replica&, const Replica&) = default;
};

struct Table {
  TableId id = 0;
  std::string uuid;  // DescribeTable's TableId
  std::string account, region, name;
  Instant created = 0;
  std::vector<KeyAttribute> attribute_definitions;  // in the order of the request
  KeySchema keys;
  std::vector<Index> indexes;  // local indexes first, otherwise in the order of creation
  std::optional<TimeToLive> ttl;
  ExpiryMode expiry;  // also kept while TTL is off
  std::optional<Recovery> recovery;
  std::optional<Stream> stream;                    // the enabled stream
  std::optional<std::string> latest_stream_label;  // the next stream's label, a time, must be later
  // The settings that the layer above stores with the table. The engine stores and copies them but never
  // reads them. Indexes and streams have their own settings, which are removed with them.
  Item settings;
  IndexId next_index_id = 1;
  std::uint32_t next_ttl_number = 1;
  std::vector<Replica>
      replicas;         // the global table's other tables, oldest first; empty if not a global table
  bool strong = false;  // whether a write reaches the replicas before it is acknowledged
  // The replicas from which items are still being copied. Until the copying is done, the table has no stream.
  std::vector<TableId> copies_from;

  // Whether writes are sent to replicas asynchronously.
  [[nodiscard]] bool replicates() const { return !replicas.empty() && !strong; }
  [[nodiscard]] const Index* find_index(std::string_view index_name) const;
};

// Converts descriptions to and from items, the form in which item_codec stores them and a dump prints them.
Item to_item(const Table& table);
Table table_from_item(const Item& item);
Item to_item(const Stream& stream);
Stream stream_from_item(const Item& item);

// Returns the stored bytes of a description.
std::string encode_description(const Table& table);
std::string encode_description(const Stream& stream);

// Decodes a description from bytes that may be damaged. The error says what is wrong with them. A decoded
// description is safe to use: each member has a valid value, and each key has its attributes.
Expected<Table, std::string> decode_table(std::string_view stored);
Expected<Stream, std::string> decode_stream(std::string_view stored);

}  // namespace mayfly::engine
