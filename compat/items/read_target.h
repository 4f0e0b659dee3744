// What Query, Scan and SELECT read: a table or one of its indexes, from where to where.
//
//   TRY(auto target, find_read_target(context, request));
//   page.range = key_range(target, condition);
//
// Rules and their order are DynamoDB's, as measured on AWS.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/context.h"
#include "compat/expression/key_condition.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"
#include "engine/cursor.h"
#include "engine/table.h"

namespace mayfly::compat {

// What is read: a table, or one of its indexes, as described when the request came.
struct ReadTarget {
  std::shared_ptr<engine::LiveTable> live;
  std::shared_ptr<const engine::Table> table;
  const engine::Index* index = nullptr;  // into *table

  [[nodiscard]] const engine::KeySchema& keys() const { return index ? index->keys : table->keys; }
};

// Reads ExclusiveStartKey, or refuses its values: "The provided starting key is invalid: …". Nothing: the
// request has none. An empty one counts as one.
Result<std::optional<engine::Item>> read_start_key(const json::Value& request, Frame frame);

// Who reads: each refuses a vector index, which only SearchVectors reads, in words of its own.
enum class ReadBy : std::uint8_t { query, scan };

// The table, and the index if the request names one. Refuses ConsistentRead of a global index, and an index
// that is still being filled.
Result<ReadTarget> find_read_target(const Context& context, const json::Value& request, ReadBy by);
Result<ReadTarget> find_read_target(const Context& context, std::string_view table_name,
                                    std::optional<std::string_view> index_name, bool consistent, ReadBy by);
// "The table does not have the specified index: by_x"
Unexpected<Error> no_such_index(std::string_view name);

// What begins to be read now is all there: the table, and the index, were not dropped since they were found.
Result<void> check_still_there(const ReadTarget& target);

// Where a Query looks.
engine::KeyRange key_range(const ReadTarget& target, const expression::KeyCondition& condition);
// How many partitions a Scan of the table or of its indexes passes: PageRequest::partitions.
unsigned scanned_partitions(const engine::Table& table);

// How many attributes a start key must have: the table's key and the index's.
std::size_t start_key_size(const ReadTarget& target);
// Checks that a start key has the target's key, with values that keys can have: in two steps, between which a
// Query looks at its condition.
Result<void> check_start_partition(const ReadTarget& target, const engine::Item& start_key);
Result<void> check_start_sort(const ReadTarget& target, const engine::Item& start_key);
// Checks the table's key within a start key: "The provided starting key is invalid: The provided key element
// does not match …".
Result<void> check_start_table_key(const ReadTarget& target, const engine::Item& start_key);

// --- positions

// The encoded key of an item's place in the target.
std::string encode_position(const ReadTarget& target, const engine::Item& item);
// Narrows a range to what comes after a position, in the range's direction.
void start_after(engine::KeyRange& range, std::string position);

}  // namespace mayfly::compat
