// Rules for keys in items and requests.
//
//   TRY(auto key, request_key(*table->description(), key_item));
//
// Which messages an operation uses was measured on AWS; dynalite's and Alternator's tests say where.
// What returns a key returns it as key_codec encodes it.
#pragma once

#include <string>

#include "compat/wire/error.h"
#include "engine/attribute_value.h"
#include "engine/table.h"

namespace mayfly::compat {

inline constexpr std::size_t partition_key_bytes_max = 2048;
inline constexpr std::size_t sort_key_bytes_max = 1024;

// Of a whole item (PutItem, BatchWriteItem's PutRequest):
//   "One or more parameter values were invalid: Missing the key id in the item"
//   "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N"
//   "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// and the sizes: partition key 2048, sort key 1024 bytes. Does not look at indexes: see check_index_keys.
Result<std::string> item_key(const engine::Table& table, const engine::Item& item);

// Of a request's Key (GetItem, UpdateItem, DeleteItem, …), which must have the key attributes and no other:
//   "The provided key element does not match the schema"
//   "One or more parameter values were invalid: The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// and the sizes.
Result<std::string> request_key(const engine::Table& table, const engine::Item& key);

// Of either, for transactions: no key attribute of the table has an empty value, nor (in a whole item) one of
// an index; item_key's and check_index_keys' words. Says nothing of absent attributes and of wrong types.
Result<void> check_no_empty_keys(const engine::Table& table, const engine::Item& item);

// One attribute of such a key; `partition` decides about its size.
Result<void> check_request_key_attribute(const engine::Item& key, const engine::KeyAttribute& attribute,
                                         bool partition);

// The key attributes of an item that is known to have them, in the table's order.
engine::Item key_attributes(const engine::Table& table, const engine::Item& item);
// Encoded likewise: of an item that was checked before.
std::string encode_key(const engine::Table& table, const engine::Item& item);

// Attributes of the item that are keys of secondary indexes, where it has them (an index is sparse):
//   "One or more parameter values were invalid: Type mismatch for Index Key x Expected: S Actual: N
//    IndexName: by_x"
// empty values and sizes. `updated`: UpdateItem words the empty ones differently.
Result<void> check_index_keys(const engine::Table& table, const engine::Item& item, bool updated = false);

}  // namespace mayfly::compat
