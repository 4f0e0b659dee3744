#include <algorithm>
#include <set>
#include <string>

#include "compat/operations/operations.h"
#include "compat/settings/settings.h"
#include "compat/tables/lookup.h"
#include "compat/tables/replicas.h"
#include "compat/wire/shapes_auto_scaling.h"

namespace mayfly::compat {
namespace {

using json::Value;

constexpr Member auto_scaling_members[] = {
    {"TableName", &shapes::table_name, required},
};
constexpr Shape describe_auto_scaling_shape =
    structure("DescribeTableReplicaAutoScalingInput", auto_scaling_members);
constexpr Member write_index_members[] = {
    {"IndexName", &shapes::index_name},
    {"ProvisionedWriteCapacityAutoScalingUpdate", &shapes::auto_scaling},
};
constexpr Shape write_index = structure("GlobalSecondaryIndexAutoScalingUpdate", write_index_members);
constexpr Shape write_indexes = list_of(write_index, 1);
constexpr Member read_index_members[] = {
    {"IndexName", &shapes::index_name},
    {"ProvisionedReadCapacityAutoScalingUpdate", &shapes::auto_scaling},
};
constexpr Shape read_index = structure("ReplicaGlobalSecondaryIndexAutoScalingUpdate", read_index_members);
constexpr Shape read_indexes = list_of(read_index);
constexpr Member replica_auto_scaling_members[] = {
    {"RegionName", &shapes::any_string, required},
    {"ReplicaGlobalSecondaryIndexUpdates", &read_indexes},
    {"ReplicaProvisionedReadCapacityAutoScalingUpdate", &shapes::auto_scaling},
};
constexpr Shape replica_auto_scaling = structure("ReplicaAutoScalingUpdate", replica_auto_scaling_members);
constexpr Shape replicas_auto_scaling = list_of(replica_auto_scaling, 1);
constexpr Member update_auto_scaling_members[] = {
    {"TableName", &shapes::table_name, required},
    {"GlobalSecondaryIndexUpdates", &write_indexes},
    {"ProvisionedWriteCapacityAutoScalingUpdate", &shapes::auto_scaling},
    {"ReplicaUpdates", &replicas_auto_scaling},
};
constexpr Shape update_auto_scaling_shape =
    structure("UpdateTableReplicaAutoScalingInput", update_auto_scaling_members);

// ---------------------------------------------------------------- describe

// Mayfly does not scale automatically: capacity settings are only reported.
void write_scaling(json::Writer& out, std::string_view name) {
  out.key(name);
  out.begin_object();
  out.key("AutoScalingDisabled");
  out.boolean(true);
  out.key("ScalingPolicies");
  out.begin_array();
  out.end_array();
  out.end_object();
}

void write_replica(json::Writer& out, const GlobalTable::Replica& replica) {
  out.begin_object();
  out.key("RegionName");
  out.string(replica.region);
  out.key("GlobalSecondaryIndexes");
  out.begin_array();
  for (const engine::Index& index : replica.shown->indexes) {
    if (index.kind != engine::Index::Kind::global) continue;
    out.begin_object();
    out.key("IndexName");
    out.string(index.name);
    out.key("IndexStatus");
    out.string(index.state == engine::Index::State::creating ? "CREATING" : "ACTIVE");
    write_scaling(out, "ProvisionedReadCapacityAutoScalingSettings");
    write_scaling(out, "ProvisionedWriteCapacityAutoScalingSettings");
    out.end_object();
  }
  out.end_array();
  write_scaling(out, "ReplicaProvisionedReadCapacityAutoScalingSettings");
  write_scaling(out, "ReplicaProvisionedWriteCapacityAutoScalingSettings");
  out.key("ReplicaStatus");
  out.string(replica.status == TableStatus::creating ? "CREATING" : "ACTIVE");
  out.end_object();
}

struct Global {
  std::string name;
  std::vector<GlobalTable::Replica> tables;  // including this region's, sorted by region
  bool on_demand = false;
};

Result<Global> find_global(const Context& context, const Value& request) {
  TRY(auto name, resolve_table_name(context, *string_member(request, "TableName")));
  const auto live = context.database.catalog().find(context.scope, name);
  const auto table = live ? live->description() : nullptr;
  auto global = table ? global_table_of(context, *table) : std::nullopt;
  if (!global) return error::resource_not_found("Global table with name: '" + name + "' does not exist.");
  Global found{std::move(name), std::move(global->replicas), is_on_demand(*table)};
  found.tables.push_back({table->region, settled_table(context, table).status, table});
  std::sort(found.tables.begin(), found.tables.end(),
            [](const auto& a, const auto& b) { return a.region < b.region; });
  return found;
}

void write_answer(json::Writer& out, const Global& global) {
  out.begin_object();
  out.key("TableAutoScalingDescription");
  out.begin_object();
  out.key("TableName");
  out.string(global.name);
  out.key("TableStatus");
  out.string("ACTIVE");
  out.key("Replicas");
  out.begin_array();
  for (const auto& replica : global.tables) write_replica(out, replica);
  out.end_array();
  out.end_object();
  out.end_object();
}

Result<void> describe(Context& context, const Value& request, json::Writer& out) {
  TRY(const auto global, find_global(context, request));
  write_answer(out, global);
  return {};
}

// ---------------------------------------------------------------- update

constexpr std::string_view write_parameter = "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate";
constexpr std::string_view read_parameter = "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate";

Unexpected<Error> cannot_update(const std::string& table, const std::string& why) {
  return error::validation("Failed to update settings for global table with name: ‘" + table + "’" + why);
}

Unexpected<Error> pays_per_request(const Global& global, std::string_view parameter) {
  std::string regions;
  for (const auto& replica : global.tables) {
    std::string name = replica.region;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    regions += (regions.empty() ? "'" : ", '") + name + "'";
  }
  return error::validation("Failed to update global table with name ‘" + global.name + "‘. Replicas " +
                           regions +
                           " BillingMode is PayPerRequest. You must convert table's BillingMode to "
                           "PROVISIONED to set parameters: '" +
                           std::string(parameter) + "'.");
}

Result<void> check_scaling(const Global& global, const Value* update, std::string_view parameter) {
  if (update == nullptr || boolean_member(*update, "AutoScalingDisabled") == true) return {};
  std::string missing;
  for (const char* name : {"MaximumUnits", "ScalingPolicyUpdate", "MinimumUnits"}) {
    if (update->member(name) != nullptr) continue;
    missing += (missing.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  if (!missing.empty()) {
    return cannot_update(global.name,
                         ": Parameters " + missing + " are required unless auto scaling is being disabled.");
  }
  if (global.on_demand) return pays_per_request(global, parameter);
  if (integer_member(*update, "MaximumUnits") < integer_member(*update, "MinimumUnits"))
    return error::validation("Maximum capacity cannot be less than minimum capacity");
  return {};
}

Result<void> check_replica(const Global& global, const Value& update) {
  const std::string region(*string_member(update, "RegionName"));
  const Value* read = update.member("ReplicaProvisionedReadCapacityAutoScalingUpdate");
  const Value* indexes = update.member("ReplicaGlobalSecondaryIndexUpdates");
  if (read == nullptr && (indexes == nullptr || indexes->items().empty())) {
    return cannot_update(
        global.name,
        " because at least one update parameter must be specified for region: ‘" + region + "’.");
  }
  const bool known = std::any_of(global.tables.begin(), global.tables.end(),
                                 [&](const auto& replica) { return replica.region == region; });
  if (!known) return error::resource_not_found("Replica with region name: '" + region + "' does not exist.");
  CHECK_OK(check_scaling(global, read, read_parameter));
  if (indexes == nullptr) return {};
  for (const Value& index : indexes->items())
    CHECK_OK(check_scaling(global, index.member("ProvisionedReadCapacityAutoScalingUpdate"), read_parameter));
  return {};
}

Result<void> update(Context& context, const Value& request, json::Writer& out) {
  TRY(const auto global, find_global(context, request));
  const Value* write = request.member("ProvisionedWriteCapacityAutoScalingUpdate");
  const Value* indexes = request.member("GlobalSecondaryIndexUpdates");
  const Value* replicas = request.member("ReplicaUpdates");
  if (write == nullptr && indexes == nullptr && replicas == nullptr)
    return cannot_update(global.name, " because at least one update parameter must be specified.");
  CHECK_OK(check_scaling(global, write, write_parameter));
  if (indexes != nullptr) {
    for (const Value& index : indexes->items())
      CHECK_OK(
          check_scaling(global, index.member("ProvisionedWriteCapacityAutoScalingUpdate"), write_parameter));
  }
  if (replicas != nullptr) {
    std::set<std::string_view> seen;
    for (const Value& each : replicas->items()) {
      const auto region = *string_member(each, "RegionName");
      if (seen.insert(region).second) continue;
      return cannot_update(global.name, " because the regions: ‘[" + std::string(region) +
                                            "]’ were specified more than once.");
    }
    for (const Value& each : replicas->items()) CHECK_OK(check_replica(global, each));
  }
  write_answer(out, global);
  return {};
}

}  // namespace

namespace operations {
constinit const Operation describe_table_replica_auto_scaling{dynamodb,
                                                              "DescribeTableReplicaAutoScaling",
                                                              Access::control,
                                                              TablesIn::table_name,
                                                              &describe_auto_scaling_shape,
                                                              &describe};
constinit const Operation update_table_replica_auto_scaling{dynamodb,
                                                            "UpdateTableReplicaAutoScaling",
                                                            Access::control,
                                                            TablesIn::table_name,
                                                            &update_auto_scaling_shape,
                                                            &update};
}  // namespace operations

}  // namespace mayfly::compat
