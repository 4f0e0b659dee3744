// Operations on global tables, as AWS answers them to an account that has none: every table is of one region.
//
// Those of version 2017.11.29 (CreateGlobalTable and its like) AWS itself has given up; DescribeTableReplicaAutoScaling
// and UpdateTableReplicaAutoScaling are of today's, whose replicas are made by UpdateTable.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation create_global_table;
extern const Operation describe_global_table;
extern const Operation describe_global_table_settings;
extern const Operation describe_table_replica_auto_scaling;
extern const Operation list_global_tables;
extern const Operation update_global_table;
extern const Operation update_global_table_settings;
extern const Operation update_table_replica_auto_scaling;
}  // namespace mayfly::compat::operations
