#include "compat/items/item_collections.h"

#include <algorithm>
#include <vector>

#include "compat/items/page.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/items/cursor.h"
#include "engine/values/item_size.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat {
namespace {

using engine::Item;
using engine::Table;

bool is_indexed(const engine::Index& index, const Item& item) {
  const auto sort = index.keys.sort();
  return std::all_of(sort.begin(), sort.end(), [&](const engine::KeyAttribute& attribute) {
    const auto* value = item.find(attribute.name);
    return value != nullptr && has_type(*value, attribute.type);
  });
}

// The bytes that an item adds to its collection.
std::size_t share(const Table& table, const Item& item) {
  std::size_t bytes = engine::item_size(item);
  for (const auto& index : table.indexes) {
    if (index.kind != engine::Index::Kind::local || !is_indexed(index, item)) continue;
    bytes += engine::item_size(projected_item(table, index, item));
  }
  return bytes;
}

std::string partition_of(const Table& table, const Item& item) {
  std::vector<const engine::AttributeValue*> values;
  for (const auto& attribute : table.keys.partition()) values.push_back(item.find(attribute.name));
  std::string prefix;
  engine::append_partition(prefix, values);
  return prefix;
}

}  // namespace

bool has_item_collections(const Table& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(),
                     [](const engine::Index& index) { return index.kind == engine::Index::Kind::local; });
}

void write_collection_metrics(json::Writer& out, const Table& table, const Item& key) {
  out.begin_object();
  out.key("ItemCollectionKey");
  out.begin_object();
  for (const auto& attribute : table.keys.partition()) {
    out.key(attribute.name);
    write_attribute_value(out, *key.find(attribute.name));
  }
  out.end_object();
  out.key("SizeEstimateRangeGB");
  out.begin_array();
  out.decimal(0);
  out.decimal(1);
  out.end_array();
  out.end_object();
}

Result<void> CollectionSizes::grow(const engine::LiveTable& live, const Table& table,
                                   const engine::StoredItem* old_item, const engine::StoredItem* new_item) {
  if (!context_.collection_bytes_max || !has_item_collections(table) || new_item == nullptr) return {};
  const std::size_t before = old_item != nullptr ? share(table, old_item->item()) : 0;
  const std::size_t after = share(table, new_item->item());
  const auto [collection, first] = bytes_.try_emplace({table.id, partition_of(table, new_item->item())}, 0);
  std::size_t& bytes = collection->second;
  if (first) {
    const std::string& prefix = collection->first.second;
    engine::Cursor cursor(context_.database.reader(), live,
                          {.index = 0, .lower = prefix, .upper = engine::prefix_end(prefix)});
    while (cursor.next() || cursor.paused())
      if (!cursor.paused()) bytes += share(table, cursor.item().item());
  }
  bytes = bytes - before + after;
  if (after <= before || bytes <= *context_.collection_bytes_max) return {};
  return error::item_collection_size_limit_exceeded();
}

}  // namespace mayfly::compat
