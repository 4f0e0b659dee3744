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

template <class Settings, class Visit>
void each_member(Visit visit) {
  std::apply([&](const auto&... member) { (visit(member), ...); }, stored_members<Settings>);
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
  read(table.settings, stored_on_demand, settings);
  return settings.on_demand;
}

bool has_vector_indexes(const engine::Table& table) {
  return table.settings.find(stored_vector_indexes.name) != nullptr;
}

std::vector<VectorIndex> vector_indexes_of(const engine::Table& table) {
  TableSettings settings;
  read(table.settings, stored_vector_indexes, settings);
  return std::move(settings.vector_indexes);
}

}  // namespace mayfly::compat
