// Settings of tables, indexes and streams that do not concern the engine: billing, throughput, tags,
// policies, encryption, …
//
// The engine stores a description's settings as an opaque item (engine/schema/table.h); this file gives them
// types. Operations on tables read all settings into a struct. Operations on items read only the one setting
// that they need.
//
//   const TableSettings settings = settings_of(*table->description());
//   change_settings(edited, [](TableSettings& settings) { settings.tags["team"] = "blue"; });
//
// To add a setting, add a member here, and a line to settings.cc that names it in storage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/schema/table.h"

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

// Reported, but without effect: whether CloudWatch's rules were requested, and when.
struct ContributorInsights {
  bool enabled = false;
  std::string mode;  // "ACCESSED_AND_THROTTLED_KEYS"
  engine::Instant changed = 0;
  friend bool operator==(const ContributorInsights&, const ContributorInsights&) = default;
};

// Returned, not enforced. A deleted policy keeps its revision, but has no document.
struct ResourcePolicy {
  std::string document;
  std::string revision;
  friend bool operator==(const ResourcePolicy&, const ResourcePolicy&) = default;
};

// An attribute that searches of a vector index may or must name.
struct SearchElement {
  std::string name;
  bool hash = false;  // HASH: every search gives its value; otherwise INLINE_FILTER
  friend bool operator==(const SearchElement&, const SearchElement&) = default;
};

// The engine does not know vector indexes. Nothing is stored for them in addition to the items, and a search
// reads the table (items/vector_search.h).
struct VectorIndex {
  std::string name;
  std::string attribute;  // the attribute with the vector
  std::int64_t dimensions = 0;
  std::string distance;  // "COSINE"
  std::vector<SearchElement> search_schema;
  std::string projection;             // "INCLUDE"
  std::vector<std::string> included;  // the attributes of an INCLUDE projection
  friend bool operator==(const VectorIndex&, const VectorIndex&) = default;

  [[nodiscard]] const SearchElement* hash() const;  // nullptr: none
};

// The source of a restore. It is part of the table's description until all items are restored, so that a
// restart can continue the restore.
struct RestoreOrigin {
  std::string backup_arn;         // empty: a point in time of a table
  std::string table_arn;          // of the source
  engine::Instant at = 0;         // RestoreDateTime: the backup's creation time, or the point in time
  std::int64_t point = 0;         // engine::PointId of the backup
  std::int64_t source_table = 0;  // engine::TableId, for a point in time
  std::int64_t held = 0;          // engine::PointId that the restore holds until it ends; 0: none
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
  // Only in data directories from before point-in-time recovery was supported; otherwise
  // engine::Table::recovery applies.
  std::optional<engine::Instant> recovery_since;
  std::int64_t recovery_days = 35;
  std::optional<RestoreOrigin> restored_from;  // nullopt: not being restored
  bool deletion_protection = false;
  std::string table_class;  // empty: never set
  std::optional<engine::Instant> table_class_changed;
  std::optional<std::string> kms_key_arn;       // nullopt: the key that DynamoDB owns
  std::optional<ContributorInsights> insights;  // nullopt: never requested
  std::optional<ResourcePolicy> policy;
  std::string settings_replication;  // GlobalTableSettingsReplicationMode; empty: never set
  std::string replica_source;        // for a replica: the region that it was created from
  std::optional<engine::Instant> replica_since;
  bool disassociation_allowed = false;  // DisassociationProtectionEnabled is off
  std::string witness;                  // the region of the global table's witness; empty: none
  std::vector<VectorIndex> vector_indexes;
  Tags tags;
  friend bool operator==(const TableSettings&, const TableSettings&) = default;
};

struct IndexSettings {
  Throughput throughput;
  OnDemandLimits on_demand_limits;
  std::optional<WarmThroughput> warm;
  std::optional<ContributorInsights> insights;  // nullopt: never requested
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

// Changes the settings of a table, an index or a stream that is being edited.
template <class Description, class Change>
void change_settings(Description& description, Change change) {
  auto settings = settings_of(description);
  change(settings);
  keep_settings(description, settings);
}

// Read only this one setting.
bool is_on_demand(const engine::Table& table);
bool has_vector_indexes(const engine::Table& table);
std::vector<VectorIndex> vector_indexes_of(const engine::Table& table);

}  // namespace mayfly::compat
