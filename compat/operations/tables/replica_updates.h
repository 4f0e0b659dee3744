// UpdateTable's ReplicaUpdates: creates, removes and reconfigures replicas of a table in other regions.
#pragma once

#include <functional>
#include <memory>

#include "compat/context.h"
#include "compat/tables/changes.h"
#include "compat/tables/replica_rules.h"
#include "compat/wire/error.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

// Returns the change to announce. Requires: no change to the table is pending.
Result<TableChange> update_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& table);

// Drops the table, its replicas or both: every table for which `goes` returns true (see
// Backups::update_together). First waits until the writes of these tables have reached the replicas that
// stay. Writes held by a pause or a lag are lost. `check` is called while the tables cannot change. Error:
// ResourceInUseException if clients write to these tables so fast that writes are always in flight.
Result<void> drop_replicas(Context& context, const std::shared_ptr<engine::LiveTable>& table,
                           const std::function<bool(const engine::Table&)>& goes,
                           const std::function<Result<void>()>& check);

}  // namespace mayfly::compat
