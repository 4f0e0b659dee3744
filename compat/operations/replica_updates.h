// UpdateTable's ReplicaUpdates: a table gets replicas in other regions, or loses them, or they get settings
// of their own.
#pragma once

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

}  // namespace mayfly::compat
