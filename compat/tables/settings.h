// What can be set of a table, an index or a stream and is no business of the engine's: billing and
// throughput, tags, policies, encryption, ...
//
// The engine keeps a description's settings as an item, without looking into them (engine/table.h); here they
// have types. Reading them builds the whole struct, which is what operations on tables do; a read or a write
// of items asks for the one setting that it needs.
//
//   const TableSettings settings = settings_of(*table->description());
//   change_settings(edited, [](TableSettings& settings) { settings.tags["team"] = "blue"; });
//
// A new setting is a member here, and a line in settings.cc that says what it is stored as.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::compat {

struct Throughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  engine::Instant last_increase = 0;  // 0: never
  engine::Instant last_decrease = 0;
  std::int64_t decreases_today = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};

struct OnDemandLimits {
  std::optional<std::int64_t> read_units_max;
  std::optional<std::int64_t> write_units_max;
  friend bool operator==(const OnDemandLimits&, const OnDemandLimits&) = default;
};

struct WarmThroughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  friend bool operator==(const WarmThroughput&, const WarmThroughput&) = default;
};

// Described and never acted upon: whether somebody asked for CloudWatch's rules, and when.
struct ContributorInsights {
  bool enabled = false;
  std::string mode;  // "ACCESSED_AND_THROTTLED_KEYS"
  engine::Instant changed = 0;
  friend bool operator==(const ContributorInsights&, const ContributorInsights&) = default;
};

// Returned, not enforced. One that was deleted leaves its revision behind, without a document.
struct ResourcePolicy {
  std::string document;
  std::string revision;
  friend bool operator==(const ResourcePolicy&, const ResourcePolicy&) = default;
};

// An attribute that a vector index's searches may, or must, name.
struct SearchElement {
  std::string name;
  bool hash = false;  // HASH: every search names its value; else INLINE_FILTER
  friend bool operator==(const SearchElement&, const SearchElement&) = default;
};

// The engine does not know it: nothing is stored of it beside the items, and a search reads the table
// (items/vector_search.h).
struct VectorIndex {
  std::string name;
  std::string attribute;  // the vector's
  std::int64_t dimensions = 0;
  std::string distance;  // "COSINE"
  std::vector<SearchElement> search_schema;
  std::string projection;             // "INCLUDE"
  std::vector<std::string> included;  // by that projection
  friend bool operator==(const VectorIndex&, const VectorIndex&) = default;

  [[nodiscard]] const SearchElement* hash() const;  // nullptr: it has none
};

// Where a table is being restored from. It stands in the table's description from its making until all of its
// items are there, so that a restart finds what it has to go on with.
struct RestoreOrigin {
  std::string backup_arn;         // empty: a point in time of the table
  std::string table_arn;          // the source's
  engine::Instant at = 0;         // RestoreDateTime: the backup's creation, or the point in time
  std::int64_t point = 0;         // engine::PointId of the backup
  std::int64_t source_table = 0;  // engine::TableId, of a point in time
  std::int64_t held = 0;          // engine::PointId of the restore's own, which ends with it; 0: it has none
  friend bool operator==(const RestoreOrigin&, const RestoreOrigin&) = default;
};

using Tags = std::map<std::string, std::string>;

struct TableSettings {
  static constexpr engine::Instant since_creation = 0;

  bool on_demand = false;  // PAY_PER_REQUEST
  std::optional<engine::Instant> on_demand_since;
  Throughput throughput;
  OnDemandLimits on_demand_limits;
  std::optional<WarmThroughput> warm;
  std::optional<engine::Instant> ttl_changed;
  // Of directories from before there was anything to go back to; else engine::Table::recovery says it.
  std::optional<engine::Instant> recovery_since;
  std::int64_t recovery_days = 35;
  std::optional<RestoreOrigin> restored_from;  // nothing: it is whole
  bool deletion_protection = false;
  std::string table_class;  // empty: never set
  std::optional<engine::Instant> table_class_changed;
  std::optional<std::string> kms_key_arn;       // nothing: DynamoDB's own key
  std::optional<ContributorInsights> insights;  // nothing: never asked for
  std::optional<ResourcePolicy> policy;
  std::string settings_replication;  // GlobalTableSettingsReplicationMode; empty: never set
  std::string replica_source;        // of a replica: the region that it was made from
  std::optional<engine::Instant> replica_since;
  bool disassociation_allowed = false;  // DisassociationProtectionEnabled was switched off
  std::string witness;                  // the region of the global table's witness; empty: it has none
  std::vector<VectorIndex> vector_indexes;
  Tags tags;
  friend bool operator==(const TableSettings&, const TableSettings&) = default;
};

struct IndexSettings {
  Throughput throughput;
  OnDemandLimits on_demand_limits;
  std::optional<WarmThroughput> warm;
  std::optional<ContributorInsights> insights;  // nothing: never asked for
  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};

struct StreamSettings {
  std::optional<ResourcePolicy> policy;
  friend bool operator==(const StreamSettings&, const StreamSettings&) = default;
};

TableSettings settings_of(const engine::Table& table);
IndexSettings settings_of(const engine::Index& index);
StreamSettings settings_of(const engine::Stream& stream);

void keep_settings(engine::Table& table, const TableSettings& settings);
void keep_settings(engine::Index& index, const IndexSettings& settings);
void keep_settings(engine::Stream& stream, const StreamSettings& settings);

// Of a table, an index or a stream that is being edited.
template <class Description, class Change>
void change_settings(Description& description, Change change) {
  auto settings = settings_of(description);
  change(settings);
  keep_settings(description, settings);
}

// One alone.
bool is_on_demand(const engine::Table& table);
bool has_vector_indexes(const engine::Table& table);
std::vector<VectorIndex> vector_indexes_of(const engine::Table& table);

}  // namespace mayfly::compat
