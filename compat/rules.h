// Rules that several operations share: finding the table, and keys in items and requests.
//
//   TRY(auto table, find_table(context, request.member("TableName")->string()));
//   TRY(auto key, request_key(*table->description(), key_item));
//
// Which messages an operation uses was measured on AWS; dynalite's and Alternator's tests say where.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/dispatch.h"
#include "compat/error.h"
#include "engine/attribute_value.h"
#include "engine/catalog.h"
#include "engine/table.h"

namespace mayfly::compat {

// --- tables

// "arn:aws:dynamodb:us-east-1:000000000000:table/T", and what hangs below it.
std::string table_arn(const engine::Scope& scope, std::string_view table_name);
std::string table_arn(const engine::Table& table);
std::string index_arn(const engine::Table& table, std::string_view index_name);

struct TableArn {
  std::string_view region, account, name;
};
// "arn:aws:dynamodb:REGION:ACCOUNT:table/NAME", and nothing below the table.
std::optional<TableArn> parse_table_arn(std::string_view arn);

// The table's own name, where a request may give a name or a table's ARN.
// ARN of something else, malformed, or of another region: ValidationException. Another account's table:
// ResourceNotFoundException "Requested resource not found".
Result<std::string> resolve_table_name(const Context& context, std::string_view name_or_arn);

// For operations on items: ResourceNotFoundException "Requested resource not found". A table that is still being
// created has none.
Result<std::shared_ptr<engine::LiveTable>> find_table(const Context& context, std::string_view name_or_arn);

// For operations on tables: "Requested resource not found: Table: X not found".
Result<std::shared_ptr<engine::LiveTable>> find_named_table(const Context& context, std::string_view name_or_arn);

// For changes of tables: ResourceInUseException "Attempt to change a resource which is still in use: Table is being
// created: X", or updated, or deleted.
Result<void> check_settled(const Context& context, std::string_view table_name);

// The errors themselves: a table may also be dropped between its lookup and Transaction::lock().
Unexpected<Error> table_not_found();
Unexpected<Error> named_table_not_found(std::string_view table_name);

// --- keys. Both return the key as key_codec encodes it.

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

// Of either, for transactions: no key attribute of the table has an empty value, nor (in a whole item) one of an
// index; item_key's and check_index_keys' words. Says nothing of absent attributes and of wrong types.
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

// "S", "N", "B".
std::string_view type_name(engine::ScalarType type);
bool has_type(const engine::AttributeValue& value, engine::ScalarType type);

inline constexpr std::size_t partition_key_bytes_max = 2048;
inline constexpr std::size_t sort_key_bytes_max = 1024;

}  // namespace mayfly::compat
