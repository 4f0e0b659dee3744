// Stored form: an item with one attribute per member; structs become maps. Members with their default value
// are not stored, so a member that is missing in stored data, old data included, reads as its default.
#include "compat/settings/settings.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/values/attribute_value.h"
#include "engine/values/number.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Map;
using engine::Number;

// --- members and their names in storage

template <class Settings, class Value>
struct SettingsMember {
  const char* name;
  Value Settings::*value;
};
template <class Settings, class Value>
SettingsMember(const char*, Value Settings::*) -> SettingsMember<Settings, Value>;

template <class Settings>
constexpr auto members = nullptr;

template <>
constexpr auto members<Throughput> = std::tuple{
    SettingsMember{"read_units", &Throughput::read_units},
    SettingsMember{"write_units", &Throughput::write_units},
    SettingsMember{"last_increase", &Throughput::last_increase},
    SettingsMember{"last_decrease", &Throughput::last_decrease},
    SettingsMember{"decreases_today", &Throughput::decreases_today},
};

template <>
constexpr auto members<OnDemandLimits> = std::tuple{
    SettingsMember{"read_units_max", &OnDemandLimits::read_units_max},
    SettingsMember{"write_units_max", &OnDemandLimits::write_units_max},
};

template <>
constexpr auto members<WarmThroughput> = std::tuple{
    SettingsMember{"read_units", &WarmThroughput::read_units},
    SettingsMember{"write_units", &WarmThroughput::write_units},
};

template <>
constexpr auto members<ContributorInsights> = std::tuple{
    SettingsMember{"enabled", &ContributorInsights::enabled},
    SettingsMember{"mode", &ContributorInsights::mode},
    SettingsMember{"changed", &ContributorInsights::changed},
};

template <>
constexpr auto members<ResourcePolicy> = std::tuple{
    SettingsMember{"document", &ResourcePolicy::document},
    SettingsMember{"revision", &ResourcePolicy::revision},
};

template <>
constexpr auto members<RestoreOrigin> = std::tuple{
    SettingsMember{"backup_arn", &RestoreOrigin::backup_arn},
    SettingsMember{"table_arn", &RestoreOrigin::table_arn},
    SettingsMember{"at", &RestoreOrigin::at},
    SettingsMember{"point", &RestoreOrigin::point},
    SettingsMember{"held", &RestoreOrigin::held},
    SettingsMember{"source_table", &RestoreOrigin::source_table},
};

template <>
constexpr auto members<SearchElement> = std::tuple{
    SettingsMember{"name", &SearchElement::name},
    SettingsMember{"hash", &SearchElement::hash},
};

template <>
constexpr auto members<VectorIndex> = std::tuple{
    SettingsMember{"name", &VectorIndex::name},
    SettingsMember{"attribute", &VectorIndex::attribute},
    SettingsMember{"dimensions", &VectorIndex::dimensions},
    SettingsMember{"distance", &VectorIndex::distance},
    SettingsMember{"search_schema", &VectorIndex::search_schema},
    SettingsMember{"projection", &VectorIndex::projection},
    SettingsMember{"included", &VectorIndex::included},
};

constexpr SettingsMember on_demand{"on_demand", &TableSettings::on_demand};
constexpr SettingsMember vector_indexes{"vector_indexes", &TableSettings::vector_indexes};

template <>
constexpr auto members<TableSettings> = std::tuple{
    on_demand,
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
    vector_indexes,
    SettingsMember{"tags", &TableSettings::tags},
};

template <>
constexpr auto members<IndexSettings> = std::tuple{
    SettingsMember{"throughput", &IndexSettings::throughput},
    SettingsMember{"on_demand", &IndexSettings::on_demand_limits},
    SettingsMember{"warm", &IndexSettings::warm},
    SettingsMember{"insights", &IndexSettings::insights},
};

template <>
constexpr auto members<StreamSettings> = std::tuple{
    SettingsMember{"policy", &StreamSettings::policy},
};

template <class Settings, class Visit>
void each_member(Visit visit) {
  std::apply([&](const auto&... member) { (visit(member), ...); }, members<Settings>);
}

// --- writing

template <class Settings>
Item to_item(const Settings& settings);

AttributeValue stored(bool value) { return AttributeValue(value); }
AttributeValue stored(std::int64_t value) { return Number(value); }
AttributeValue stored(const std::string& value) { return value; }
AttributeValue stored(const Tags& tags) {
  Map map;
  for (const auto& [name, value] : tags) map.append(name) = value;
  return map;
}
template <class Settings>
AttributeValue stored(const Settings& settings) {
  return to_item(settings);
}
template <class Value>
AttributeValue stored(const std::optional<Value>& value) {
  return stored(*value);
}
template <class Value>
AttributeValue stored(const std::vector<Value>& values) {
  engine::List list;
  for (const Value& value : values) list.push_back(stored(value));
  return list;
}

template <class Settings>
Item to_item(const Settings& settings) {
  const Settings defaults;
  Item item;
  each_member<Settings>([&](const auto& member) {
    const auto& value = settings.*member.value;
    if (value != defaults.*member.value) item.set(member.name, stored(value));
  });
  return item;
}

// --- reading

template <class Settings>
Settings from_item(const Item& item);

void read(const AttributeValue& stored, bool& value) { value = *stored.get_if<bool>(); }
void read(const AttributeValue& stored, std::int64_t& value) {
  value = *stored.get_if<Number>()->floor_scaled(0);
}
void read(const AttributeValue& stored, std::string& value) { value = *stored.get_if<std::string>(); }
void read(const AttributeValue& stored, Tags& tags) {
  for (const engine::Attribute& tag : *stored.get_if<Map>()) read(tag.value, tags[tag.name]);
}
template <class Settings>
void read(const AttributeValue& stored, Settings& settings) {
  settings = from_item<Settings>(*stored.get_if<Map>());
}
template <class Value>
void read(const AttributeValue& stored, std::optional<Value>& value) {
  read(stored, value.emplace());
}
template <class Value>
void read(const AttributeValue& stored, std::vector<Value>& values) {
  for (const AttributeValue& value : *stored.get_if<engine::List>()) read(value, values.emplace_back());
}

template <class Settings, class Value>
void read(const Item& item, const SettingsMember<Settings, Value>& member, Settings& settings) {
  if (const AttributeValue* stored = item.find(member.name)) read(*stored, settings.*member.value);
}

template <class Settings>
Settings from_item(const Item& item) {
  Settings settings;
  each_member<Settings>([&](const auto& member) { read(item, member, settings); });
  return settings;
}

}  // namespace

const SearchElement* VectorIndex::hash() const {
  const auto found = std::find_if(search_schema.begin(), search_schema.end(),
                                  [](const SearchElement& element) { return element.hash; });
  return found == search_schema.end() ? nullptr : &*found;
}

TableSettings settings_of(const engine::Table& table) { return from_item<TableSettings>(table.settings); }
IndexSettings settings_of(const engine::Index& index) { return from_item<IndexSettings>(index.settings); }
StreamSettings settings_of(const engine::Stream& stream) {
  return from_item<StreamSettings>(stream.settings);
}

void keep_settings(engine::Table& table, const TableSettings& settings) {
  table.settings = to_item(settings);
}
void keep_settings(engine::Index& index, const IndexSettings& settings) {
  index.settings = to_item(settings);
}
void keep_settings(engine::Stream& stream, const StreamSettings& settings) {
  stream.settings = to_item(settings);
}

bool is_on_demand(const engine::Table& table) {
  TableSettings settings;
  read(table.settings, on_demand, settings);
  return settings.on_demand;
}

bool has_vector_indexes(const engine::Table& table) {
  return table.settings.find(vector_indexes.name) != nullptr;
}

std::vector<VectorIndex> vector_indexes_of(const engine::Table& table) {
  TableSettings settings;
  read(table.settings, vector_indexes, settings);
  return std::move(settings.vector_indexes);
}

}  // namespace mayfly::compat
