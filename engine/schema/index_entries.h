// Pure functions that determine which index entries a change to an item deletes and puts.
//
//   for (const IndexChange& change : index_changes(table, old_item, new_item)) ...
//
// An index is sparse: it has no entry for an item in which an index key is missing or has another type. An
// entry points to its item (its value is the item's encoded key), so a change that leaves an index's keys
// alone writes nothing to that index. Rejected: entries that copy the projection. They would cost a write per
// index for every update and twice the memory, but would save only one lookup of 1-3 us per item read.
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
  std::string old_key;        // the entry's key in the index; empty if there was no entry
  std::string new_key;        // empty if the item has no entry after the change
  std::size_t old_bytes = 0;  // the size of the old projection, as DynamoDB counts it
  std::size_t new_bytes = 0;

  [[nodiscard]] bool key_changed() const { return old_key != new_key; }
};

// Returns the changes to all indexes whose projected content changes. `old_item` is nullptr if the item is
// new, and `new_item` is nullptr if it is deleted.
std::vector<IndexChange> index_changes(const Table& table, const Item* old_item, const Item* new_item);

// Returns the item's encoded key in the table; empty if a key attribute is missing or has a value that cannot
// be a key.
std::string table_key(const KeySchema& keys, const Item& item);

// Returns the key of the item's entry; empty if the item has no entry. Requires: the item's table key is
// valid. In the grammar of key_codec.h, the entry's key is:
//
//   entry := key(index partition values, index sort values)
//            partition(table partition value, table sort value)
//
// So entries with equal index keys are ordered by a hash of the item's complete key, as on AWS.
std::string index_entry_key(const Table& table, const Index& index, const Item& item);

// Whether the index projects a top-level attribute. It projects its own keys, the table's keys, and the
// attributes that it includes.
bool projects(const Table& table, const Index& index, std::string_view name);
// Returns the size of the item's attributes that the index projects, as DynamoDB counts it.
std::size_t projected_size(const Table& table, const Index& index, const Item& item);

// Copies the key attributes of `from` to `to`, which may already have other attributes. Skips missing ones.
void copy_keys(const KeySchema& keys, const Item& from, Item& to);
// Returns an item with only the key attributes of `item`.
Item key_attributes(const KeySchema& keys, const Item& item);
Item key_attributes(const KeySchema& keys, const StoredItem& item);

}  // namespace mayfly::engine
