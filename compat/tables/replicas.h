// Describes and checks a global table from the point of view of its table in one region.
#pragma once

#include <optional>

#include "compat/context.h"
#include "compat/tables/changes.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

// Returns nullopt if the table has no replicas.
std::optional<GlobalTable> global_table_of(const Context& context, const engine::Table& table);

// Returns the description of a table without pending changes.
TableChange settled_table(const Context& context, std::shared_ptr<const engine::Table> table);

// Whether items are still being copied to the table or one of its replicas.
bool is_being_copied(const Context& context, const engine::Table& table);

// "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the
// table in the last 24 hours."
Result<void> check_no_source(const Context& context, const engine::Table& table);

// "Cannot delete table X in region R because it has deletion protection enabled. …"
Unexpected<Error> protected_replica(const engine::Table& table);
// "Deletion of only one table replica is not supported for global tables with MultiRegionConsistency …"
Unexpected<Error> strong_stays_whole();
// Returns the error for a global table that is being changed: "The resource which you are attempting to
// change is in use."
Unexpected<Error> being_changed();

// Restores the overrides that a region of a global table had before a change in another region. An override
// is a read capacity, or a maximum read capacity, that differs from that of `own`, the table that is changed.
// `was` is the value of `edited` before the change.
void keep_overrides(const engine::Table& own, const engine::Table& was, engine::Instant at,
                    engine::Table& edited);

}  // namespace mayfly::compat
