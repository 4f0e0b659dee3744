// Which state of a table a request's reads see: all, or one that lags behind as a rule of the account's
// faults says (engine/sight.h).
//
//   page.sight = sight_of(context, *target.table, target.index, page.consistent);
//
// A read is as far behind as a rule says if it may be so on AWS: without ConsistentRead, or of a global or
// vector index. Transactions, and conditions of writes, see all.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::compat {

// Requires: `table` outlives it. `index`: nullptr is the table itself.
engine::Sight sight_of(const Context& context, const engine::Table& table, const engine::Index* index,
                       bool consistent);
// Of a copy of the table that has this name, or none: Sight::copy, which it outlives.
engine::Sight sight_of(const Context& context, const engine::Table& table, std::string_view copy,
                       bool consistent);

}  // namespace mayfly::compat
