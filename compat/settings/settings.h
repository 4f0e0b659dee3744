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
// To add a setting, add a member to a struct here. Below the struct, add a line that gives the member's name
// in storage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/clock.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

// Stored form: an item with one attribute per member; structs become maps. Members with their default value
// are not stored, so a member that is missing in stored data, old data included, reads as its default.
template <class Settings, class Value>
struct SettingsMember {
  const char* name;  // the member's name in storage
  Value Settings::*value;
};
template <class Settings, class Value>
SettingsMember(const char*, Value Settings::*) -> SettingsMember<Settings, Value>;

// A tuple of the members of a struct.
template <class Settings>
inline constexpr auto stored_members = nullptr;

struct Throughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  engine::Instant last_increase = 0;  // 0: never
  engine::Instant last_decrease = 0;
  std::int64_t decreases_today = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};
template <>
inline constexpr auto stored_members<Throughput> = std::tuple{
    SettingsMember{"read_units", &Throughput::read_units},
    SettingsMember{"write_units", &Throughput::write_units},
    SettingsMember{"last_increase", &Throughput::last_increase},
    SettingsMember{"last_decrease", &Throughput::last_decrease},
    SettingsMember{"decreases_today", &Throughput::decreases_today},
};

struct OnDemandLimits {
  std::optional<std::int64_t> read_units_max;
  std::optional<std::int64_t> write_units_max;
  friend bool operator==(const OnDemandLimits&, const OnDemandLimits&) = default;
};
template <>
inline constexpr auto stored_members<OnDemandLimits> = std::tuple{
    SettingsMember{"read_units_max", &OnDemandLimits::read_units_max},
    SettingsMember{"write_units_max", &OnDemandLimits::write_units_max},
};

struct WarmThroughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  friend bool operator==(const WarmThroughput&, const WarmThroughput&) = default;
};
template <>
inline constexpr auto stored_members<WarmThroughput> = std::tuple{
    SettingsMember{"read_units", &WarmThroughput::read_units},
    SettingsMember{"write_units", &WarmThroughput::write_units},
};

// Whether CloudWatch's rules were requested, and when. Mayfly reports this setting, but it has no effect.
struct ContributorInsights {
  bool enabled = false;
  std::string mode;  // "ACCESSED_AND_THROTTLED_KEYS"
  engine::Instant changed = 0;
  friend bool operator==(const ContributorInsights&, const ContributorInsights&) = default;
};
template <>
inline constexpr auto stored_members<ContributorInsights> = std::tuple{
    SettingsMember{"enabled", &ContributorInsights::enabled},
    SettingsMember{"mode", &ContributorInsights::mode},
    SettingsMember{"changed", &ContributorInsights::changed},
};

// The policy is returned but not enforced. A deleted policy keeps its revision, but has no document.
struct ResourcePolicy {
  std::string document;
  std::string revision;
  friend bool operator==(const ResourcePolicy&, const ResourcePolicy&) = default;
};
template <>
inline constexpr auto stored_members<ResourcePolicy> = std::tuple{
    SettingsMember{"document", &ResourcePolicy::document},
    SettingsMember{"revision", &ResourcePolicy::revision},
};

// An attribute that searches of a vector index may or must name.
struct SearchElement {
  std::string name;
  bool hash = false;  // HASH: every search must give its value; otherwise INLINE_FILTER
  friend bool operator==(const SearchElement&, const SearchElement&) = default;
};
template <>
inline constexpr auto stored_members<SearchElement> = std::tuple{
    SettingsMember{"name", &SearchElement::name},
    SettingsMember{"hash", &SearchElement::hash},
};

// The engine does not know about vector indexes. Nothing is stored for them in addition to the items, and a
// search reads the table (items/vector_search.h).
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
template <>
inline constexpr auto stored_members<VectorIndex> = std::tuple{
    SettingsMember{"name", &VectorIndex::name},
    SettingsMember{"attribute", &VectorIndex::attribute},
    SettingsMember{"dimensions", &VectorIndex::dimensions},
    SettingsMember{"distance", &VectorIndex::distance},
    SettingsMember{"search_schema", &VectorIndex::search_schema},
    SettingsMember{"projection", &VectorIndex::projection},
    SettingsMember{"included", &VectorIndex::included},
};

// The source of a restore. It is part of the table's description until all items are restored, so that a
// restart can continue the restore.
struct RestoreOrigin {
  std::string backup_arn;         // empty: the source is a point in time of a table
  std::string table_arn;          // the source table
  engine::Instant at = 0;         // RestoreDateTime: the backup's creation time, or the point in time
  std::int64_t point = 0;         // engine::PointId of the backup
  std::int64_t source_table = 0;  // engine::TableId, for a point in time
  std::int64_t held = 0;          // engine::PointId that the restore holds until it ends; 0: none
  friend bool operator==(const RestoreOrigin&, const RestoreOrigin&) = default;
};
template <>
inline constexpr auto stored_members<RestoreOrigin> = std::tuple{
    SettingsMember{"backup_arn", &RestoreOrigin::backup_arn},
    SettingsMember{"table_arn", &RestoreOrigin::table_arn},
    SettingsMember{"at", &RestoreOrigin::at},
    SettingsMember{"point", &RestoreOrigin::point},
    SettingsMember{"held", &RestoreOrigin::held},
    SettingsMember{"source_table", &RestoreOrigin::source_table},
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
  // Set only in data directories of versions that did not support point-in-time recovery; otherwise
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
inline constexpr SettingsMember stored_on_demand{"on_demand", &TableSettings::on_demand};
inline constexpr SettingsMember stored_vector_indexes{"vector_indexes", &TableSettings::vector_indexes};
template <>
inline constexpr auto stored_members<TableSettings> = std::tuple{
    stored_on_demand,
    SettingsMember{"on_demand_since", &TableSettings::on_demand_since},
    SettingsMember{"throughput", &TableSettings::throughput},
    SettingsMember{"on_demand_limits", &TableSettings::on_demand_limits},
    SettingsMember{"warm", &TableSettings::warm},
    SettingsMember{"ttl_changed", &TableSettings::ttl_changed},
    SettingsMember{"recovery_since", &TableSettings::recovery_since},
    SettingsMember{"recovery_days", &TableSettings::recovery_days},
    SettingsMember{"restored_from", &TableSettings::restored_from},
    SettingsMember{"deletion_protection", &TableSettings::deletion_protection},
    SettingsMember{"table_class", &TableSettings::table_class},
    SettingsMember{"table_class_changed", &TableSettings::table_class_changed},
    SettingsMember{"kms_key_arn", &TableSettings::kms_key_arn},
    SettingsMember{"insights", &TableSettings::insights},
    SettingsMember{"policy", &TableSettings::policy},
    SettingsMember{"settings_replication", &TableSettings::settings_replication},
    SettingsMember{"replica_source", &TableSettings::replica_source},
    SettingsMember{"replica_since", &TableSettings::replica_since},
    SettingsMember{"disassociation_allowed", &TableSettings::disassociation_allowed},
    SettingsMember{"witness", &TableSettings::witness},
    stored_vector_indexes,
    SettingsMember{"tags", &TableSettings::tags},
};

struct IndexSettings {
  Throughput throughput;
  OnDemandLimits on_demand_limits;
  std::optional<WarmThroughput> warm;
  std::optional<ContributorInsights> insights;  // nullopt: never requested
  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};
template <>
inline constexpr auto stored_members<IndexSettings> = std::tuple{
    SettingsMember{"throughput", &IndexSettings::throughput},
    SettingsMember{"on_demand", &IndexSettings::on_demand_limits},
    SettingsMember{"warm", &IndexSettings::warm},
    SettingsMember{"insights", &IndexSettings::insights},
};

struct StreamSettings {
  std::optional<ResourcePolicy> policy;
  friend bool operator==(const StreamSettings&, const StreamSettings&) = default;
};
template <>
inline constexpr auto stored_members<StreamSettings> = std::tuple{
    SettingsMember{"policy", &StreamSettings::policy},
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

// These functions read only the setting that they return.
bool is_on_demand(const engine::Table& table);
bool has_vector_indexes(const engine::Table& table);
std::vector<VectorIndex> vector_indexes_of(const engine::Table& table);

}  // namespace mayfly::compat
