// Code shared by Query, Scan and SELECT: it decides which attributes are read, and writes the response.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "compat/expression/path_visitor.h"
#include "compat/items/page.h"
#include "compat/items/read_target.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

// Checks Select against ProjectionExpression and AttributesToGet, without looking at a table. Query's
// messages begin with "1 validation error detected: "; Scan's do not.
Result<void> check_select(const json::Value& request, std::string_view message_prefix);

// Rejects ALL_ATTRIBUTES for a global index that does not project all attributes.
Result<void> check_all_attributes(const ReadTarget& target, const json::Value& request);
// Checks the requested attributes against the index's projection, and decides whether to fetch whole items.
Result<void> apply_index_projection(const json::Value& request, PageRequest& page);
Result<void> apply_index_projection(bool all_attributes, PageRequest& page);
// Rejects a filter on attributes that the index does not project. Only reads with a key condition make this
// check; a Scan's filter treats these attributes as missing. `for_each_path` visits those paths of the filter
// that are checked. Requires: apply_index_projection has been called.
using PathsOf = void(const expression::Condition&, const expression::PathVisitor&);
Result<void> check_filter_is_projected(const PageRequest& page, PathsOf& for_each_path);

// For reads with a key condition: rejects a filter that uses a key attribute: "Filter Expression can only
// contain non-primary key attributes: Primary key attribute: id". `kind`: the request's name for the filter.
Result<void> check_filter_has_no_keys(const engine::KeySchema& keys, const expression::Condition& filter,
                                      std::string_view kind);

// Reads the page and writes the response: Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity.
Result<void> answer_page(const Context& context, const json::Value& request, const PageRequest& page,
                         json::Writer& out);

}  // namespace mayfly::compat
