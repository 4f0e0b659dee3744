// An immutable description of a table: what the engine acts on (key schema, indexes, TTL, stream), and what
// others keep with it. A change makes a new description; see catalog.h for how it is swapped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/expected.h"

namespace mayfly::engine {

using TableId = std::uint32_t;      // unique across accounts, never reused
using StreamId = std::uint32_t;     // unique across accounts, never reused
using ShardNumber = std::uint32_t;  // unique within a stream, never reused

// Unique among a table's indexes; 0 is the table itself.
using IndexId = std::uint16_t;
// After it come those again that no index has any more.
inline constexpr IndexId last_index_id = 0xfff9;
// Not indexes, but counters of the items that never expire, one for each NeverReason (expiry_index.h).
inline constexpr IndexId never_expiring = 0xfff9;
// No index, but the counter of the old versions of a table's items (history.h), and of their bytes.
inline constexpr IndexId old_versions = 0xfffe;
// No index, but the counter of a table's entries in the expiry index.
inline constexpr IndexId expiry_entries = 0xffff;

enum class ScalarType : std::uint8_t { string, number, binary };

std::string_view type_name(ScalarType type);  // "S", "N", "B"
bool has_type(const AttributeValue& value, ScalarType type);

struct KeyAttribute {
  std::string name;
  ScalarType type;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;
};

inline constexpr std::size_t key_attributes_max =
    4;  // of a global index's partition key, and of its sort key

// A table has one partition attribute and at most one sort attribute; a global index up to four of each.
class KeySchema {
 public:
  KeySchema() = default;
  KeySchema(std::vector<KeyAttribute> partition, const std::vector<KeyAttribute>& sort);

  // All of them, those of the partition first.
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
  std::vector<std::string> attributes;  // of `include`
};

struct Index {
  enum class Kind : std::uint8_t { local, global };
  enum class State : std::uint8_t { creating, active };

  IndexId id = 0;
  std::string name;
  Kind kind = Kind::global;
  KeySchema keys;
  Projection projection;
  State state = State::active;  // creating: being backfilled; writes maintain it, reads refuse it
  Item settings;                // as the table's
};

struct TimeToLive {
  std::string attribute;
  bool backfilling = false;  // items from before it was enabled are still being indexed
  // Each time it is enabled has its own, so that no backfill takes another's end for its own.
  std::uint32_t number = 0;
  Instant since = 0;  // when it was enabled; before that nothing had expired by it
  // The expiry index also lists items that never expire. False until a backfill has added these entries,
  // which directories of earlier versions do not have.
  bool lists_never = false;
};

// A table that can be brought back to how it was (history.h): what its items were is kept from `since` on,
// for so many days.
struct Recovery {
  Instant since = 0;
  std::int64_t days = 0;
  Instant given_up =
      0;  // what was until then is not kept any more: instants before it cannot be gone back to
  friend bool operator==(const Recovery&, const Recovery&) = default;
};

// When an item that is due is deleted (expiry_mode.h).
struct ExpiryMode {
  enum class Kind : std::uint8_t {
    exact,   // at once
    aws,     // after a delay, as on AWS: meanwhile it is an ordinary item
    manual,  // when told
  };
  Kind kind = Kind::exact;
  std::int64_t delay_ms_min = 600'000;  // of `aws`: at least 10 minutes, at most 28, as was measured there
  std::int64_t delay_ms_max = 1'680'000;
  std::uint64_t seed = 1;
  friend bool operator==(const ExpiryMode&, const ExpiryMode&) = default;
};

enum class StreamView : std::uint8_t { keys_only, new_image, old_image, new_and_old_images };

// The part of a stream that holds the records of some partitions: of those whose keys' hashes (key_codec.h's
// partition_hash) lie in its range. The open shards' ranges divide all hashes among them. A shard that is
// closed while its stream is enabled has children, which go on with its hashes: one, or two with half of them
// each.
struct Shard {
  struct Parent {
    ShardNumber number;
    Instant created;  // its name is made of these, and it may be forgotten before its children
    friend bool operator==(const Parent&, const Parent&) = default;
  };
  ShardNumber number = 0;
  std::optional<Parent> parent;
  Instant created = 0;  // later than its parent's, also on a frozen clock
  std::uint64_t first_hash = 0;
  std::uint64_t last_hash = ~std::uint64_t{0};
  std::uint64_t first_sequence = 0;            // first that a record of it may have
  std::uint64_t oldest_sequence = 0;           // records before it were trimmed
  std::optional<Instant> closed;               // forgotten 24 h later
  std::optional<std::uint64_t> last_sequence;  // of a closed shard: no record of it has a later one
  friend bool operator==(const Shard&, const Shard&) = default;
};

// A restore takes back the records that came after its snapshot. Their numbers are never given again.
struct Undoing {
  std::uint32_t number = 0;           // of the restore
  std::uint64_t first = 0, last = 0;  // the records' numbers
  friend bool operator==(const Undoing&, const Undoing&) = default;
};

struct Stream {
  // The oldest is forgotten: who stood there for so long reads on.
  static constexpr std::size_t undone_max = 100;

  StreamId id = 0;
  TableId table = 0;
  std::string account, region, table_name;
  std::string label;  // "2024-11-18T14:36:44.149", unique even on a frozen clock
  StreamView view = StreamView::new_and_old_images;
  KeySchema keys;
  Instant created = 0;
  std::optional<Instant> disabled;  // closed: readable for 24 h
  // What shards and events are named by. A restored stream keeps it, and gets another id.
  std::uint32_t name = 0;
  // By number: what restores took back of this stream, as far as it is not back again.
  std::vector<Undoing> undone;
  std::vector<Shard> shards;  // by number; of an enabled stream the last one is open
  Item settings;              // as the table's

  [[nodiscard]] const Shard* find_shard(ShardNumber number) const;
  // The open shard of an enabled stream that holds this hash.
  [[nodiscard]] const Shard& open_shard(std::uint64_t partition_hash) const;
  // Whether the record of this number was taken back.
  [[nodiscard]] bool is_undone(std::uint64_t sequence) const;
  // Whether a reader who will read `next` has read what was taken back since the restore of number `seen`.
  [[nodiscard]] bool has_lost(std::uint64_t next, std::uint32_t seen) const;
  // The latest restore that took something back; 0: none did.
  [[nodiscard]] std::uint32_t last_restore() const { return undone.empty() ? 0 : undone.back().number; }
};

// Another region's table of a global table: of the same account, name and keys.
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
  std::vector<KeyAttribute> attribute_definitions;  // in the order they were given
  KeySchema keys;
  std::vector<Index> indexes;  // local ones first, in the order they were given
  std::optional<TimeToLive> ttl;
  ExpiryMode expiry;  // whether TTL is on or not
  std::optional<Recovery> recovery;
  std::optional<Stream> stream;                    // enabled one
  std::optional<std::string> latest_stream_label;  // the next one's is later
  // What the floor above keeps with the table: stored and copied with it, and never looked into. Indexes and
  // streams have their own, which go with them.
  Item settings;
  IndexId next_index_id = 1;
  std::uint32_t next_ttl_number = 1;
  std::vector<Replica>
      replicas;         // the others of its global table, the eldest first; none: it is a table alone
  bool strong = false;  // a write reaches the replicas before it is answered, else some time later
  std::vector<TableId>
      copies_from;  // of these replicas items are still being copied; then it has no stream yet

  // Whether its writes are sent to replicas.
  [[nodiscard]] bool replicates() const { return !replicas.empty() && !strong; }
  [[nodiscard]] const Index* find_index(std::string_view index_name) const;
};

// Descriptions as stored bytes, by way of item_codec (so that a dump can print them).
Item to_item(const Table& table);
Table table_from_item(const Item& item);
Item to_item(const Stream& stream);
Stream stream_from_item(const Item& item);

// A description as it is stored.
std::string encode_description(const Table& table);
std::string encode_description(const Stream& stream);

// Descriptions out of stored bytes that may be damaged; the error says what is wrong with them. What comes
// out can be worked with: each member has a value that there is, and each key has its attributes.
Expected<Table, std::string> decode_table(std::string_view stored);
Expected<Stream, std::string> decode_stream(std::string_view stored);

}  // namespace mayfly::engine
