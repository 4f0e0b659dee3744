// What Query, Scan and SELECT have in common beyond what they read: which attributes, and the answer.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "compat/expression/path_visitor.h"
#include "compat/items/page.h"
#include "compat/items/read_target.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

// Checks Select against ProjectionExpression and AttributesToGet, without looking at a table. Query's
// messages begin with "1 validation error detected: ", Scan's do not.
Result<void> check_select(const json::Value& request, std::string_view message_prefix);

// Refuses ALL_ATTRIBUTES of a global index that does not project all.
Result<void> check_all_attributes(const ReadTarget& target, const json::Value& request);
// Checks an index's projection against what is asked for, and decides whether whole items are fetched.
Result<void> apply_index_projection(const json::Value& request, PageRequest& page);
Result<void> apply_index_projection(bool all_attributes, PageRequest& page);
// Refuses a filter by what the index does not project, as reads with a key condition do; a Scan's filter
// finds that it is not there. `for_each_path` visits those of the filter's paths that count. Comes after
// apply_index_projection.
using PathsOf = void(const expression::Condition&, const expression::PathVisitor&);
Result<void> check_filter_is_projected(const PageRequest& page, PathsOf& for_each_path);

// Refuses a filter beside a key condition that names a key attribute: "Filter Expression can only contain
// non-primary key attributes: Primary key attribute: id". `kind`: what the request calls the filter.
Result<void> check_filter_has_no_keys(const engine::KeySchema& keys, const expression::Condition& filter,
                                      std::string_view kind);

// Reads the page and writes the answer: Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity.
Result<void> answer_page(const Context& context, const json::Value& request, const PageRequest& page,
                         json::Writer& out);

}  // namespace mayfly::compat
