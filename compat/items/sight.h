// Chooses which state of a table a request's reads see: the latest one, or an earlier one if a stale_reads
// rule of the account makes the read lag behind (engine/values/sight.h).
//
//   page.sight = sight_of(context, *target.table, target.index, page.consistent);
//
// Lag applies only to reads that may be stale on AWS: reads without ConsistentRead, and reads of global and
// vector indexes. Transactions and conditions of writes always see the latest state.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "engine/schema/table.h"
#include "engine/values/sight.h"

namespace mayfly::compat {

// `index`: nullptr for the table itself. Requires: `table` outlives the returned Sight.
engine::Sight sight_of(const Context& context, const engine::Table& table, const engine::Index* index,
                       bool consistent);
// Does the same for the copy that `copy` names (Sight::copy); an empty name means the table itself. Requires:
// `copy` outlives the returned Sight.
engine::Sight sight_of(const Context& context, const engine::Table& table, std::string_view copy,
                       bool consistent);

}  // namespace mayfly::compat
