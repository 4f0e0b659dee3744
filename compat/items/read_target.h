// Resolves what Query, Scan and SELECT read: a table or one of its indexes, and the key range.
//
//   TRY(auto target, find_read_target(context, request));
//   page.range = key_range(target, condition);
//
// The rules and their order were measured on AWS.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/expression/key_condition.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "engine/items/cursor.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

// A table, or one of its indexes, as described when the request arrived.
struct ReadTarget {
  std::shared_ptr<engine::LiveTable> live;
  std::shared_ptr<const engine::Table> table;
  const engine::Index* index = nullptr;  // into *table

  [[nodiscard]] const engine::KeySchema& keys() const { return index ? index->keys : table->keys; }
};

// Parses ExclusiveStartKey, or fails with "The provided starting key is invalid: …". Returns nullopt if the
// request has no such member. An empty object counts as a key.
Result<std::optional<engine::Item>> read_start_key(const json::Value& request, Frame frame);

// The operation that reads. Only SearchVectors can read a vector index; Query and Scan reject it with
// different errors.
enum class ReadBy : std::uint8_t { query, scan };

// Finds the table, and the index if the request names one. Rejects ConsistentRead on a global index, and an
// index that is still being backfilled.
Result<ReadTarget> find_read_target(const Context& context, const json::Value& request, ReadBy by);
Result<ReadTarget> find_read_target(const Context& context, std::string_view table_name,
                                    std::optional<std::string_view> index_name, bool consistent, ReadBy by);
// Returns the error "The table does not have the specified index: by_x".
Unexpected<Error> no_such_index(std::string_view name);

// Fails if the table or the index has been dropped since it was looked up. If this check succeeds, a cursor
// that was opened before it sees all data.
Result<void> check_still_there(const ReadTarget& target);

// Returns the key range that a Query reads.
engine::KeyRange key_range(const ReadTarget& target, const expression::KeyCondition& condition);
// Returns how many partitions a Scan of the table or of one of its indexes passes (PageRequest::partitions).
unsigned scanned_partitions(const engine::Table& table);

// Returns the number of attributes in a start key, which has the attributes of the table's key and of the
// index's key.
std::size_t start_key_size(const ReadTarget& target);
// Check that a start key contains the target's key, with valid key values. There are two functions because a
// Query checks its key condition in between.
Result<void> check_start_partition(const ReadTarget& target, const engine::Item& start_key);
Result<void> check_start_sort(const ReadTarget& target, const engine::Item& start_key);
// Checks the table's key in a start key: "The provided starting key is invalid: The provided key element does
// not match …".
Result<void> check_start_table_key(const ReadTarget& target, const engine::Item& start_key);

// --- positions

// Returns the encoded key of an item's position in the target.
std::string encode_position(const ReadTarget& target, const engine::Item& item);
// Narrows a range to the part after a position, in the range's direction.
void start_after(engine::KeyRange& range, std::string position);

}  // namespace mayfly::compat
