// Key validation and encoding for items and requests.
//
//   TRY(auto key, request_key(*table->description(), key_item));
//
// The messages of each operation were measured on AWS, as recorded in the tests of dynalite and Alternator.
// Functions that return a key return it in the encoding of key_codec.
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

// Returns the key of a whole item (PutItem, BatchWriteItem's PutRequest). Rejects missing, mistyped and empty
// key attributes:
//   "One or more parameter values were invalid: Missing the key id in the item"
//   "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N"
//   "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// and partition keys over 2048 bytes and sort keys over 1024 bytes. Index keys are checked by
// check_index_keys.
Result<std::string> item_key(const engine::Table& table, const engine::Item& item);

// Returns the key in a request's Key member (GetItem, UpdateItem, DeleteItem, …). It must consist of exactly
// the table's key attributes, or the request fails with one of these:
//   "The provided key element does not match the schema"
//   "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an
//    empty string value. Key: id"
// The size limits of item_key apply here as well.
Result<std::string> request_key(const engine::Table& table, const engine::Item& key);

// For transactions. Rejects empty key attributes in an item or a Key. In a whole item, this includes the key
// attributes of indexes; the message names the alphabetically first index whose key attribute is empty. The
// messages are those of item_key and check_index_keys. Missing attributes and wrong types pass.
Result<void> check_no_empty_keys(const engine::Table& table, const engine::Item& item);
// Makes the same check for the value that an update assigns to a key attribute of an index.
Result<void> check_no_empty_update(const engine::KeyAttribute& attribute,
                                   const engine::AttributeValue& given);

// Checks one attribute of a request's Key. `partition` selects the size limit.
Result<void> check_request_key_attribute(const engine::Item& key, const engine::KeyAttribute& attribute,
                                         bool partition);

// Encodes the key of an item. Requires: item_key or request_key has accepted it.
std::string encode_key(const engine::Table& table, const engine::Item& item);

// Return the errors for an empty value of a key attribute, of an index's key attribute in an item, and of an
// index's key attribute in an update.
Unexpected<Error> empty_item_key(const engine::KeyAttribute& attribute);
Unexpected<Error> empty_index_key(std::string_view index_name, const engine::KeyAttribute& attribute);
Unexpected<Error> empty_updated_key(const engine::KeyAttribute& attribute);

// Checks the item's attributes that are keys of secondary indexes. Missing attributes pass, because indexes
// are sparse. index_rules.h also checks vector indexes. Rejects empty values, values over the size limits and
// wrong types:
//   "One or more parameter values were invalid: Type mismatch for Index Key x Expected: S Actual: N
//    IndexName: by_x"
// `updated`: use UpdateItem's wording for empty values.
Result<void> check_index_keys(const engine::Table& table, const engine::Item& item, bool updated = false);

}  // namespace mayfly::compat
