// UpdateTable's ReplicaUpdates: a table gets replicas in other regions, or loses them, or they get settings
// of their own.
#pragma once

#include <functional>
#include <memory>

#include "compat/context.h"
#include "compat/tables/changes.h"
#include "compat/tables/replica_rules.h"
#include "compat/wire/error.h"
#include "engine/catalog.h"

namespace mayfly::compat {

// What the answer announces. The table's status is settled.
Result<TableChange> update_replicas(Context& context, const ReplicaRequest& request,
                                    const std::shared_ptr<engine::LiveTable>& table);

// Drops those of a table and its replicas that `goes` names, as Backups::update_together does, once what was
// written to them has arrived at those that stay. What a pause or a lag holds goes with them. `check` is
// asked where nobody else can change the tables. ResourceInUseException: so much is written to them that
// there was always more on its way.
Result<void> drop_replicas(Context& context, const std::shared_ptr<engine::LiveTable>& table,
                           const std::function<bool(const engine::Table&)>& goes,
                           const std::function<Result<void>()>& check);

}  // namespace mayfly::compat
