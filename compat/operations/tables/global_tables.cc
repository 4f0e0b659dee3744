#include <algorithm>

#include "compat/operations/operations.h"
#include "compat/wire/shapes_auto_scaling.h"
#include "compat/wire/shapes_replica.h"

namespace mayfly::compat {
namespace {

using json::Value;

// ---------------------------------------------------------------- version 2017.11.29

constexpr Member described_members[] = {
    {"GlobalTableName", &shapes::table_name_first, required},
};
constexpr Shape describe_shape = structure("DescribeGlobalTableInput", described_members);
constexpr Shape describe_settings_shape = structure("DescribeGlobalTableSettingsInput", described_members);

constexpr Member replica_members[] = {{"RegionName", &shapes::any_string}};
constexpr Shape replica = structure("Replica", replica_members);
constexpr Shape replicas = list_of(replica);
constexpr Member create_members[] = {
    {"GlobalTableName", &shapes::table_name_first, required},
    {"ReplicationGroup", &replicas, required},
};
constexpr Shape create_shape = structure("CreateGlobalTableInput", create_members);

constexpr Shape replica_action = structure("CreateReplicaAction", shapes::region_members);
constexpr Member replica_update_members[] = {
    {"Create", &replica_action},
    {"Delete", &replica_action},
};
constexpr Shape replica_update = structure("ReplicaUpdate", replica_update_members);
constexpr Shape replica_updates = list_of(replica_update);
constexpr Member update_members[] = {
    {"GlobalTableName", &shapes::table_name_first, required},
    {"ReplicaUpdates", &replica_updates, required},
};
constexpr Shape update_shape = structure("UpdateGlobalTableInput", update_members);

constexpr Member index_settings_members[] = {
    {"IndexName", &shapes::index_name, required},
    {"ProvisionedWriteCapacityUnits", &shapes::positive_long},
    {"ProvisionedWriteCapacityAutoScalingSettingsUpdate", &shapes::auto_scaling},
};
constexpr Shape index_settings =
    structure("GlobalTableGlobalSecondaryIndexSettingsUpdate", index_settings_members);
constexpr Shape indexes_settings = list_of(index_settings, 1, 20);
constexpr Member replica_index_members[] = {
    {"IndexName", &shapes::index_name, required},
    {"ProvisionedReadCapacityUnits", &shapes::positive_long},
    {"ProvisionedReadCapacityAutoScalingSettingsUpdate", &shapes::auto_scaling},
};
constexpr Shape replica_index = structure("ReplicaGlobalSecondaryIndexSettingsUpdate", replica_index_members);
constexpr Shape replica_indexes = list_of(replica_index, 1, 20);
constexpr Member replica_settings_members[] = {
    {"RegionName", &shapes::any_string, required},
    {"ReplicaProvisionedReadCapacityUnits", &shapes::positive_long},
    {"ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate", &shapes::auto_scaling},
    {"ReplicaGlobalSecondaryIndexSettingsUpdate", &replica_indexes},
    {"ReplicaTableClass", &shapes::table_class},
};
constexpr Shape replica_settings = structure("ReplicaSettingsUpdate", replica_settings_members);
constexpr Shape replicas_settings = list_of(replica_settings, 1, 50);
constexpr Member settings_members[] = {
    {"GlobalTableName", &shapes::table_name_first, required},
    {"GlobalTableBillingMode", &shapes::billing_mode},
    {"GlobalTableProvisionedWriteCapacityUnits", &shapes::positive_long},
    {"GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate", &shapes::auto_scaling},
    {"GlobalTableGlobalSecondaryIndexSettingsUpdate", &indexes_settings},
    {"ReplicaSettingsUpdate", &replicas_settings},
};
constexpr Shape update_settings_shape = structure("UpdateGlobalTableSettingsInput", settings_members);

constexpr Shape start_name = string_shape(3, 255, name_pattern);
constexpr Member list_members[] = {
    {"ExclusiveStartGlobalTableName", &start_name},
    {"Limit", &shapes::positive_integer},
    {"RegionName", &shapes::any_string},
};
constexpr Shape list_shape = structure("ListGlobalTablesInput", list_members);

std::string name_of(const Value& request) { return std::string(*string_member(request, "GlobalTableName")); }

std::string does_not_exist(const std::string& name) {
  return "Global table with name: '" + name + "' does not exist.";
}

Unexpected<Error> version_not_supported() {
  return error::validation(
      "One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not "
      "supported. We "
      "recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy).");
}

Result<void> create(Context&, const Value&, json::Writer&) { return version_not_supported(); }

Result<void> describe(Context&, const Value& request, json::Writer&) {
  return error::global_table_not_found("Global table not found: " + does_not_exist(name_of(request)));
}

Result<void> use_settings(Context&, const Value& request, json::Writer&) {
  return error::global_table_not_found(does_not_exist(name_of(request)));
}

Result<void> update(Context&, const Value& request, json::Writer&) {
  const auto updates = request.member("ReplicaUpdates")->items();
  const auto has = [&](std::string_view action) {
    return std::any_of(updates.begin(), updates.end(),
                       [&](const Value& each) { return each.member(action) != nullptr; });
  };
  if (has("Create")) return version_not_supported();
  if (!has("Delete")) return error::validation("One or more parameter values were invalid");
  return error::global_table_not_found("Global table not found: " + does_not_exist(name_of(request)));
}

Result<void> list(Context&, const Value&, json::Writer& out) {
  out.begin_object();
  out.key("GlobalTables");
  out.begin_array();
  out.end_array();
  out.end_object();
  return {};
}

}  // namespace

namespace operations {
constinit const Operation create_global_table{dynamodb,          "CreateGlobalTable", Access::control,
                                              TablesIn::nothing, &create_shape,       &create};
constinit const Operation describe_global_table{dynamodb,          "DescribeGlobalTable", Access::control,
                                                TablesIn::nothing, &describe_shape,       &describe};
constinit const Operation describe_global_table_settings{
    dynamodb,          "DescribeGlobalTableSettings", Access::control,
    TablesIn::nothing, &describe_settings_shape,      &use_settings};
constinit const Operation list_global_tables{dynamodb,          "ListGlobalTables", Access::control,
                                             TablesIn::nothing, &list_shape,        &list};
constinit const Operation update_global_table{dynamodb,          "UpdateGlobalTable", Access::control,
                                              TablesIn::nothing, &update_shape,       &update};
constinit const Operation update_global_table_settings{
    dynamodb,          "UpdateGlobalTableSettings", Access::control,
    TablesIn::nothing, &update_settings_shape,      &use_settings};
}  // namespace operations

}  // namespace mayfly::compat
