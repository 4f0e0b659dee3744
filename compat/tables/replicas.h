// A global table, as its table in one region sees the others.
#pragma once

#include <optional>

#include "compat/context.h"
#include "compat/tables/changes.h"
#include "compat/wire/error.h"
#include "engine/table.h"

namespace mayfly::compat {

// Nothing: the table has no replicas.
std::optional<GlobalTable> global_table_of(const Context& context, const engine::Table& table);

// What is said of a table that settled long ago.
TableChange settled_table(const Context& context, std::shared_ptr<const engine::Table> table);

// Whether items are still being copied to one of them.
bool is_being_copied(const Context& context, const engine::Table& table);

// "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the
// table in the last 24 hours."
Result<void> check_no_source(const Context& context, const engine::Table& table);

// "Cannot delete table X in region R because it has deletion protection enabled. …"
Unexpected<Error> protected_replica(const engine::Table& table);
// "Deletion of only one table replica is not supported for global tables with MultiRegionConsistency …"
Unexpected<Error> strong_stays_whole();
// "The resource which you are attempting to change is in use.": so it is said of a global table that changes.
Unexpected<Error> being_changed();

// Gives a region of a global table back what it had of its own before a change in another region: reads'
// capacity, or their maximum, where that was not what `own`, the table that is changed, had. `was`: `edited`
// as it was.
void keep_overrides(const engine::Table& own, const engine::Table& was, engine::Instant at,
                    engine::Table& edited);

}  // namespace mayfly::compat
