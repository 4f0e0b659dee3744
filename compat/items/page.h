// Reads one page of a table or an index. Applies Limit, the limit of 1 MB, the filter and the projection, and
// returns LastEvaluatedKey.
//
// A page ends as soon as one of these conditions is met, even if no item follows:
// - It has read `limit` items.
// - The items read reach 1 MB. The item that crosses the limit is still part of the page.
// - The filter has used its budget of steps (expression/steps.h). A filter with a few operands never uses its
//   whole budget within 1 MB.
//
// Sizes and limits count the items read, not the items that pass the filter. For an index they count the
// projected part of each item.
//
//   json::Writer items(text);
//   TRY(const Page page, read_page(context.database, request, &items));   // [{"id":{"S":"1"}},…]
//   if (page.last_evaluated_key) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compat/expression/steps.h"
#include "compat/items/read_target.h"
#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "engine/database.h"
#include "engine/items/cursor.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"
#include "engine/values/sight.h"

namespace mayfly::compat {

inline constexpr std::size_t page_bytes_max = 1024 * 1024;
inline constexpr unsigned partitions_max = 4;

struct PageRequest {
  ReadTarget target;
  engine::KeyRange range;
  std::optional<expression::Condition> filter;
  std::optional<expression::Projection> projection;
  bool flat_projection = false;  // as in PartiQL's SELECT, where a.b becomes b
  bool whole_items = false;      // local indexes: fetch unprojected attributes from the table
  bool one_row = false;          // the range holds at most one item, so there is no next page
  std::optional<std::size_t> limit;
  std::size_t bytes_max = page_bytes_max;
  std::uint64_t steps_max = expression::page_steps_max;  // for the filter
  bool consistent = false;
  std::optional<engine::Sight> sight;  // items/sight.h
  // The number of equal hash ranges that the target is split into, up to partitions_max. A page is charged at
  // least one block for each partition that it passes.
  unsigned partitions = 1;
};

struct Page {
  std::size_t count = 0;    // passed the filter
  std::size_t scanned = 0;  // read
  std::optional<engine::Item> last_evaluated_key;
  double table_units = 0;
  double index_units = 0;
  std::size_t bytes = 0;    // read
  std::uint64_t steps = 0;  // used by the filter
};

// Writes the items as an array, or only counts them if `items` is nullptr. Fails if the table or the index
// has been dropped since the target was looked up.
Result<Page> read_page(const engine::Database& database, const PageRequest& request, json::Writer* items);
// Does the same, but writes into an array that is already open.
Result<Page> read_items(const engine::Database& database, const PageRequest& request, json::Writer* items);

// Returns the part of an item that the index projects.
engine::Item projected_item(const engine::Table& table, const engine::Index& index, const engine::Item& item);

}  // namespace mayfly::compat
