// Pure: which entries of a table's indexes an item's change deletes and puts.
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

#include "engine/attribute_value.h"
#include "engine/table.h"

namespace mayfly::engine {

struct IndexChange {
  const Index* index;
  std::string old_key;        // the entry's key within the index; empty: there was no entry
  std::string new_key;        // empty: there is none any more
  std::size_t old_bytes = 0;  // what the entry projects, by DynamoDB's count
  std::size_t new_bytes = 0;

  [[nodiscard]] bool key_changed() const { return old_key != new_key; }
};

// The indexes whose projected content changes. `old_item` and `new_item`: nullptr if there is none.
std::vector<IndexChange> index_changes(const Table& table, const Item* old_item, const Item* new_item);

// The item's own key, encoded; empty: it lacks one of the attributes, or has one that can be no key.
std::string table_key(const KeySchema& keys, const Item& item);

// The key of the item's entry; empty: no entry. Requires: the item has a key of its own. Drawn with
// key_codec's words:
//
//   entry := key(index partition values, index sort values)
//            partition(table partition value, table sort value)
//
// So entries with equal index keys come in the order of a hash over the item's whole key, as on AWS.
std::string index_entry_key(const Table& table, const Index& index, const Item& item);

// Whether the index holds a top-level attribute: its keys, the table's, and what it includes.
bool projects(const Table& table, const Index& index, std::string_view name);
// DynamoDB's byte count of what the index projects of the item.
std::size_t projected_size(const Table& table, const Index& index, const Item& item);

// The value if the attribute is there and of the key's type.
const AttributeValue* key_value(const KeyAttribute& attribute, const Item& item);

// The key attributes that `from` has, into `to`, which may have others.
void copy_keys(const KeySchema& keys, const Item& from, Item& to);
// The item's key attributes, and only them.
Item key_attributes(const KeySchema& keys, const Item& item);

}  // namespace mayfly::engine
