// One page of a table or an index: Limit, 1 MB, filter, projection, LastEvaluatedKey.
//
// A page ends when it has looked at `limit` items, or when those it looked at reach 1 MB (the one that
// crosses the line still belongs to it), also if nothing comes after; or when its filter has had as many
// steps as it may (expression/steps.h), which no filter of a few operands has within 1 MB. Sizes and limits
// count what was looked at, not what passed the filter; of an index they count what it projects.
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

#include "compat/expression/ast.h"
#include "compat/expression/steps.h"
#include "compat/items/read_target.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"
#include "engine/cursor.h"
#include "engine/database.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::compat {

inline constexpr std::size_t page_bytes_max = 1024 * 1024;
inline constexpr unsigned partitions_max = 4;

struct PageRequest {
  ReadTarget target;
  engine::KeyRange range;
  std::optional<expression::Condition> filter;
  std::optional<expression::Projection> projection;
  bool flat_projection = false;  // as PartiQL's SELECT names what it projects: a.b as b
  bool whole_items = false;      // of a local index: fetch what it does not project
  bool one_row = false;          // the range has one item at most: after it there is no further page
  std::optional<std::size_t> limit;
  std::size_t bytes_max = page_bytes_max;
  std::uint64_t steps_max = expression::page_steps_max;  // of the filter
  bool consistent = false;
  std::optional<engine::Sight> sight;  // items/sight.h
  // Into how many equal ranges of hashes the target is split, up to partitions_max. A page costs at least a
  // block of each that it passes.
  unsigned partitions = 1;
};

struct Page {
  std::size_t count = 0;    // passed the filter
  std::size_t scanned = 0;  // looked at
  std::optional<engine::Item> last_evaluated_key;
  double table_units = 0;
  double index_units = 0;
  std::size_t bytes = 0;    // looked at
  std::uint64_t steps = 0;  // of the filter
};

// Writes the items as an array; nullptr: they are only counted. An error: the table or the index is gone
// since the request's target was found.
Result<Page> read_page(const engine::Database& database, const PageRequest& request, json::Writer* items);
// The same, into an array that is open.
Result<Page> read_items(const engine::Database& database, const PageRequest& request, json::Writer* items);

// What an index holds of an item.
engine::Item projected_item(const engine::Table& table, const engine::Index& index, const engine::Item& item);

}  // namespace mayfly::compat
