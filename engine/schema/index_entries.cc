#include "engine/schema/index_entries.h"

#include <algorithm>
#include <array>

#include "engine/base/check.h"
#include "engine/values/item_size.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

struct Scalars {
  std::array<const AttributeValue*, key_attributes_max> values;
  std::size_t count = 0;
  [[nodiscard]] ScalarPointers pointers() const { return {values.data(), count}; }
};

// Whether the value can be a key. Every number can be a key. While an index exists, writes reject values that
// cannot be its key; items written before the index was created may have such values.
bool may_be_key(const AttributeValue& value, std::size_t bytes_max) {
  std::size_t bytes = 1;
  if (const auto* text = value.get_if<std::string>()) bytes = text->size();
  if (const auto* binary = value.get_if<Binary>()) bytes = binary->bytes.size();
  return bytes > 0 && bytes <= bytes_max;
}

// Returns false if an attribute is missing, of another type, empty or too long.
bool find_scalars(std::span<const KeyAttribute> attributes, const Item& item, std::size_t bytes_max,
                  Scalars& out) {
  MAYFLY_CHECK(attributes.size() <= key_attributes_max);
  for (const KeyAttribute& attribute : attributes) {
    const AttributeValue* value = item.find(attribute.name);
    if (!value || !has_type(*value, attribute.type) || !may_be_key(*value, bytes_max)) return false;
    out.values[out.count++] = value;
  }
  return true;
}

bool projection_differs(const Index& index, const Item& old_item, const Item& new_item) {
  switch (index.projection.kind) {
    case Projection::Kind::all: return !(old_item == new_item);
    case Projection::Kind::keys_only: return false;  // the caller has already compared the keys
    case Projection::Kind::include:
      for (const std::string& name : index.projection.attributes) {
        const AttributeValue* old_value = old_item.find(name);
        const AttributeValue* new_value = new_item.find(name);
        if (!old_value != !new_value) return true;
        if (old_value && !(*old_value == *new_value)) return true;
      }
      return false;
  }
  return false;
}

}  // namespace

bool projects(const Table& table, const Index& index, std::string_view name) {
  if (index.projection.kind == Projection::Kind::all) return true;
  if (table.keys.names(name) || index.keys.names(name)) return true;
  const auto& included = index.projection.attributes;
  return index.projection.kind == Projection::Kind::include &&
         std::find(included.begin(), included.end(), name) != included.end();
}

void copy_keys(const KeySchema& keys, const Item& from, Item& to) {
  for (const KeyAttribute& attribute : keys.all())
    if (const AttributeValue* value = from.find(attribute.name)) to.set(attribute.name, *value);
}

Item key_attributes(const KeySchema& keys, const Item& item) {
  Item result;
  copy_keys(keys, item, result);
  return result;
}

Item key_attributes(const KeySchema& keys, const StoredItem& item) {
  std::array<std::string_view, key_attributes_max> names;
  std::size_t count = 0;
  for (const KeyAttribute& attribute : keys.all()) names[count++] = attribute.name;
  return item.attributes({names.data(), count});
}

std::string table_key(const KeySchema& keys, const Item& item) {
  Scalars partition, sort;
  if (!find_scalars(keys.partition(), item, partition_key_bytes_max, partition)) return {};
  if (!find_scalars(keys.sort(), item, sort_key_bytes_max, sort)) return {};
  std::string key;
  append_key(key, partition.pointers(), sort.pointers());
  return key;
}

std::string index_entry_key(const Table& table, const Index& index, const Item& item) {
  Scalars partition, sort, table_key;
  if (!find_scalars(index.keys.partition(), item, partition_key_bytes_max, partition)) return {};
  if (!find_scalars(index.keys.sort(), item, sort_key_bytes_max, sort)) return {};
  [[maybe_unused]] const bool has_key =
      find_scalars(table.keys.partition(), item, partition_key_bytes_max, table_key) &&
      find_scalars(table.keys.sort(), item, sort_key_bytes_max, table_key);
  MAYFLY_CHECK(has_key);
  std::string key;
  append_key(key, partition.pointers(), sort.pointers());
  append_partition(key, table_key.pointers());
  return key;
}

std::size_t projected_size(const Table& table, const Index& index, const Item& item) {
  if (index.projection.kind == Projection::Kind::all) return item_size(item);
  std::size_t size = 0;
  for (const Attribute& attribute : item)
    if (projects(table, index, attribute.name)) size += attribute.name.size() + value_size(attribute.value);
  return size;
}

std::vector<IndexChange> index_changes(const Table& table, const Item* old_item, const Item* new_item) {
  std::vector<IndexChange> changes;
  for (const Index& index : table.indexes) {
    IndexChange change{.index = &index};
    if (old_item) change.old_key = index_entry_key(table, index, *old_item);
    if (new_item) change.new_key = index_entry_key(table, index, *new_item);
    if (change.old_key.empty() && change.new_key.empty()) continue;
    if (!change.key_changed() && !projection_differs(index, *old_item, *new_item)) continue;
    if (!change.old_key.empty()) change.old_bytes = projected_size(table, index, *old_item);
    if (!change.new_key.empty()) change.new_bytes = projected_size(table, index, *new_item);
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace mayfly::engine
