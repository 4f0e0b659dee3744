// Pure functions that determine which index entries a change of an item deletes and puts.
//
//   for (const IndexChange& change : index_changes(table, old_item, new_item)) ...
//
// An index is sparse: an item that lacks one of its key attributes, or has one of another type, has no entry.
// An entry points to its item (its value is the item's encoded key), so a change that leaves an index's keys
// alone writes nothing to it. Rejected: entries that copy the projection. They cost a write per index for
// every update and twice the memory, to save one lookup per item read, which takes 1-3 us.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

struct IndexChange {
  const Index* index;
  std::string old_key;        // the entry's key within the index; empty if there was no entry
  std::string new_key;        // empty if there is no entry now
  std::size_t old_bytes = 0;  // the size of the entry's projection, by DynamoDB's count
  std::size_t new_bytes = 0;

  [[nodiscard]] bool key_changed() const { return old_key != new_key; }
};

// The changes of all indexes whose projected content changes. `old_item` and `new_item` are nullptr if there
// is no such item.
std::vector<IndexChange> index_changes(const Table& table, const Item* old_item, const Item* new_item);

// The item's own key, encoded. Empty if the item lacks one of the attributes, or has one that cannot be a
// key.
std::string table_key(const KeySchema& keys, const Item& item);

// The key of the item's entry; empty if the item has no entry. Requires: the item's table key is valid.
// In terms of key_codec's grammar:
//
//   entry := key(index partition values, index sort values)
//            partition(table partition value, table sort value)
//
// So entries with equal index keys are ordered by a hash of the item's whole key, as on AWS.
std::string index_entry_key(const Table& table, const Index& index, const Item& item);

// Whether the index projects a top-level attribute. It projects its own keys, the table's keys, and the
// attributes that it includes.
bool projects(const Table& table, const Index& index, std::string_view name);
// The size of the item's attributes that the index projects, by DynamoDB's count.
std::size_t projected_size(const Table& table, const Index& index, const Item& item);

// Copies the key attributes that `from` has to `to`, which may have other attributes.
void copy_keys(const KeySchema& keys, const Item& from, Item& to);
// An item with only the key attributes of `item`.
Item key_attributes(const KeySchema& keys, const Item& item);
Item key_attributes(const KeySchema& keys, const StoredItem& item);

}  // namespace mayfly::engine
