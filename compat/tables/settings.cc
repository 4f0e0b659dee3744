// Stored: an item with one attribute per member, structs being maps. A member that has its default is not
// stored: so a default stays what it is, and what was stored before there was a member reads as its default.
#include "compat/tables/settings.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/number.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Map;
using engine::Number;

// --- what there is, and what it is stored as

template <class Settings, class Value>
struct Member {
  const char* name;
  Value Settings::*value;
};
template <class Settings, class Value>
Member(const char*, Value Settings::*) -> Member<Settings, Value>;

template <class Settings>
constexpr auto members = nullptr;

template <>
constexpr auto members<Throughput> = std::tuple{
    Member{"read_units", &Throughput::read_units},
    Member{"write_units", &Throughput::write_units},
    Member{"last_increase", &Throughput::last_increase},
    Member{"last_decrease", &Throughput::last_decrease},
    Member{"decreases_today", &Throughput::decreases_today},
};

template <>
constexpr auto members<OnDemandLimits> = std::tuple{
    Member{"read_units_max", &OnDemandLimits::read_units_max},
    Member{"write_units_max", &OnDemandLimits::write_units_max},
};

template <>
constexpr auto members<WarmThroughput> = std::tuple{
    Member{"read_units", &WarmThroughput::read_units},
    Member{"write_units", &WarmThroughput::write_units},
};

template <>
constexpr auto members<ContributorInsights> = std::tuple{
    Member{"enabled", &ContributorInsights::enabled},
    Member{"mode", &ContributorInsights::mode},
    Member{"changed", &ContributorInsights::changed},
};

template <>
constexpr auto members<ResourcePolicy> = std::tuple{
    Member{"document", &ResourcePolicy::document},
    Member{"revision", &ResourcePolicy::revision},
};

template <>
constexpr auto members<RestoreOrigin> = std::tuple{
    Member{"backup_arn", &RestoreOrigin::backup_arn},
    Member{"table_arn", &RestoreOrigin::table_arn},
    Member{"at", &RestoreOrigin::at},
    Member{"point", &RestoreOrigin::point},
    Member{"source_table", &RestoreOrigin::source_table},
};

template <>
constexpr auto members<SearchElement> = std::tuple{
    Member{"name", &SearchElement::name},
    Member{"hash", &SearchElement::hash},
};

template <>
constexpr auto members<VectorIndex> = std::tuple{
    Member{"name", &VectorIndex::name},
    Member{"attribute", &VectorIndex::attribute},
    Member{"dimensions", &VectorIndex::dimensions},
    Member{"distance", &VectorIndex::distance},
    Member{"search_schema", &VectorIndex::search_schema},
    Member{"projection", &VectorIndex::projection},
    Member{"included", &VectorIndex::included},
};

constexpr Member on_demand{"on_demand", &TableSettings::on_demand};
constexpr Member vector_indexes{"vector_indexes", &TableSettings::vector_indexes};

template <>
constexpr auto members<TableSettings> = std::tuple{
    on_demand,
    Member{"on_demand_since", &TableSettings::on_demand_since},
    Member{"throughput", &TableSettings::throughput},
    Member{"on_demand_limits", &TableSettings::on_demand_limits},
    Member{"warm", &TableSettings::warm},
    Member{"ttl_changed", &TableSettings::ttl_changed},
    Member{"recovery_since", &TableSettings::recovery_since},
    Member{"recovery_days", &TableSettings::recovery_days},
    Member{"restored_from", &TableSettings::restored_from},
    Member{"deletion_protection", &TableSettings::deletion_protection},
    Member{"table_class", &TableSettings::table_class},
    Member{"table_class_changed", &TableSettings::table_class_changed},
    Member{"kms_key_arn", &TableSettings::kms_key_arn},
    Member{"insights", &TableSettings::insights},
    Member{"policy", &TableSettings::policy},
    Member{"settings_replication", &TableSettings::settings_replication},
    Member{"replica_source", &TableSettings::replica_source},
    Member{"replica_since", &TableSettings::replica_since},
    Member{"disassociation_allowed", &TableSettings::disassociation_allowed},
    Member{"witness", &TableSettings::witness},
    vector_indexes,
    Member{"tags", &TableSettings::tags},
};

template <>
constexpr auto members<IndexSettings> = std::tuple{
    Member{"throughput", &IndexSettings::throughput},
    Member{"on_demand", &IndexSettings::on_demand_limits},
    Member{"warm", &IndexSettings::warm},
    Member{"insights", &IndexSettings::insights},
};

template <>
constexpr auto members<StreamSettings> = std::tuple{
    Member{"policy", &StreamSettings::policy},
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
  for (const auto& [name, value] : tags) map.append(name, value);
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
void read(const Item& item, const Member<Settings, Value>& member, Settings& settings) {
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
