// Rules for keys in items and requests.
//
//   TRY(auto key, request_key(*table->description(), key_item));
//
// Which messages an operation uses was measured on AWS; dynalite's and Alternator's tests say where.
// Functions that return a key return it as key_codec encodes it.
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/attribute_value.h"
#include "engine/table.h"

namespace mayfly::compat {

// The key of a whole item (PutItem, BatchWriteItem's PutRequest). Refuses what has no such key:
//   "One or more parameter values were invalid: Missing the key id in the item"
//   "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N"
//   "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// and a partition key of more than 2048 bytes or a sort key of more than 1024. Indexes are looked at by
// check_index_keys.
Result<std::string> item_key(const engine::Table& table, const engine::Item& item);

// The key that a request's Key names (GetItem, UpdateItem, DeleteItem, …). It must have the key attributes
// and no other; else:
//   "The provided key element does not match the schema"
//   "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// and the same sizes.
Result<std::string> request_key(const engine::Table& table, const engine::Item& key);

// For transactions, of an item or of a Key: no key attribute of the table has an empty value, nor, in a whole
// item, one of an index; the alphabetically first such index is named. The words are item_key's and
// check_index_keys'. Absent attributes and wrong types pass.
Result<void> check_no_empty_keys(const engine::Table& table, const engine::Item& item);
// The same check of the value that an update gives a key attribute of an index.
Result<void> check_no_empty_update(const engine::KeyAttribute& attribute,
                                   const engine::AttributeValue& given);

// One attribute of such a key; `partition` decides about its size.
Result<void> check_request_key_attribute(const engine::Item& key, const engine::KeyAttribute& attribute,
                                         bool partition);

// The key of an item. Requires: item_key or request_key took it before.
std::string encode_key(const engine::Table& table, const engine::Item& item);

// What is said of an empty value: of a key attribute; of an index's key attribute, in an item and in an
// update.
Unexpected<Error> empty_item_key(const engine::KeyAttribute& attribute);
Unexpected<Error> empty_index_key(std::string_view index_name, const engine::KeyAttribute& attribute);
Unexpected<Error> empty_updated_key(const engine::KeyAttribute& attribute);

// Checks those attributes of the item that are keys of secondary indexes, where it has them (an index is
// sparse), and those that vector indexes have (vector_entries.h):
//   "One or more parameter values were invalid: Type mismatch for Index Key x Expected: S Actual: N
//    IndexName: by_x"
// and empty values, and sizes. `updated`: UpdateItem words the empty ones differently.
Result<void> check_index_keys(const engine::Table& table, const engine::Item& item, bool updated = false);

}  // namespace mayfly::compat
