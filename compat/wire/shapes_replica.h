// Shapes of UpdateTable's members for global tables.
#pragma once

#include "compat/wire/shapes_table.h"

namespace mayfly::compat::shapes {

inline constexpr Member read_override_members[] = {{"ReadCapacityUnits", &positive_long}};
inline constexpr Shape read_override = structure("ProvisionedThroughputOverride", read_override_members);
inline constexpr Member on_demand_override_members[] = {{"MaxReadRequestUnits", &any_long}};
inline constexpr Shape on_demand_override =
    structure("OnDemandThroughputOverride", on_demand_override_members);
inline constexpr Member replica_index_members[] = {
    {"IndexName", &index_name, required},
    {"ProvisionedThroughputOverride", &read_override},
    {"OnDemandThroughputOverride", &on_demand_override},
};
inline constexpr Shape replica_index = structure("ReplicaGlobalSecondaryIndex", replica_index_members);
inline constexpr Shape replica_indexes = list_of(replica_index, 1);
inline constexpr Member replica_members[] = {
    {"RegionName", &any_string, required},
    {"KMSMasterKeyId", &any_string},
    {"ProvisionedThroughputOverride", &read_override},
    {"OnDemandThroughputOverride", &on_demand_override},
    {"GlobalSecondaryIndexes", &replica_indexes},
    {"TableClassOverride", &table_class},
};
inline constexpr Shape replica_creation = structure("CreateReplicationGroupMemberAction", replica_members);
inline constexpr Shape replica_change = structure("UpdateReplicationGroupMemberAction", replica_members);
inline constexpr Member region_members[] = {{"RegionName", &any_string, required}};
inline constexpr Shape replica_deletion = structure("DeleteReplicationGroupMemberAction", region_members);
inline constexpr std::string_view disassociation_mode_values[] = {"WAIT_FOR_REPLICATION"};
inline constexpr Shape disassociation_mode = enum_shape(disassociation_mode_values);
inline constexpr Member disassociation_members[] = {
    {"RegionName", &any_string, required},
    {"DisassociationMode", &disassociation_mode, required},
};
inline constexpr Shape replica_disassociation =
    structure("DisassociateReplicationGroupMemberAction", disassociation_members);
inline constexpr Member replica_update_members[] = {
    {"Create", &replica_creation},
    {"Update", &replica_change},
    {"Delete", &replica_deletion},
    {"Disassociate", &replica_disassociation},
};
inline constexpr Shape replica_update = structure("ReplicationGroupUpdate", replica_update_members);
inline constexpr Shape replica_updates = list_of(replica_update, 1);
inline constexpr Shape witness_creation =
    structure("CreateGlobalTableWitnessGroupMemberAction", region_members);
inline constexpr Shape witness_deletion =
    structure("DeleteGlobalTableWitnessGroupMemberAction", region_members);
inline constexpr Member witness_update_members[] = {
    {"Create", &witness_creation},
    {"Delete", &witness_deletion},
};
inline constexpr Shape witness_update = structure("GlobalTableWitnessGroupUpdate", witness_update_members);
inline constexpr Shape witness_updates = list_of(witness_update, 1, 1);
inline constexpr std::string_view region_consistency_values[] = {"EVENTUAL", "STRONG"};
inline constexpr Shape region_consistency = enum_shape(region_consistency_values);

}  // namespace mayfly::compat::shapes
