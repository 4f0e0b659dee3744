// Rules that Query and Scan share, in DynamoDB's order: which index, what to select, where to start; and their
// answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/capacity.h"
#include "compat/dispatch.h"
#include "compat/error.h"
#include "compat/expression/key_condition.h"
#include "compat/json.h"
#include "compat/page.h"

namespace mayfly::compat {

// Select against ProjectionExpression and AttributesToGet; looks at no table. Query's messages begin with
// "1 validation error detected: ", Scan's do not.
Result<void> check_select(const json::Value& request, std::string_view message_prefix);

// ExclusiveStartKey's values: "The provided starting key is invalid: …". Nothing if the request has none; an
// empty one is one.
Result<std::optional<engine::Item>> read_start_key(const json::Value& request);

// The table and the index, if the request names one. Refuses ConsistentRead of a global index, and one that is
// still being filled.
Result<ReadTarget> find_read_target(const Context& context, const json::Value& request);
Result<ReadTarget> find_read_target(const Context& context, std::string_view table_name,
                                    std::optional<std::string_view> index_name, bool consistent);

// Where a Query looks.
engine::KeyRange key_range(const ReadTarget& target, const expression::KeyCondition& condition);
// How many partitions a Scan of the table or of its indexes passes: PageRequest::partitions.
unsigned scanned_partitions(const engine::Table& table);

// How many attributes a start key must have: the table's key and the index's.
std::size_t start_key_size(const ReadTarget& target);
// It has the target's key, with values that keys can have. Two steps, between which a Query looks at its condition.
Result<void> check_start_partition(const ReadTarget& target, const engine::Item& start_key);
Result<void> check_start_sort(const ReadTarget& target, const engine::Item& start_key);
// The table's key within it: "The provided starting key is invalid: The provided key element does not match …".
Result<void> check_start_table_key(const ReadTarget& target, const engine::Item& start_key);

// ALL_ATTRIBUTES of a global index that does not project all.
Result<void> check_all_attributes(const ReadTarget& target, const json::Value& request);
// An index's projection against what is asked for and filtered by; decides whether whole items are fetched.
Result<void> apply_index_projection(const json::Value& request, PageRequest& page);
Result<void> apply_index_projection(bool all_attributes, PageRequest& page);

// Reads the page and writes the answer: Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity.
void answer_page(const Context& context, const json::Value& request, const PageRequest& page, json::Writer& out);

}  // namespace mayfly::compat
