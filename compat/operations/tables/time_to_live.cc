#include "compat/operations/operations.h"
#include "compat/settings/settings.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr Shape attribute_name = string_shape(1, 255);
constexpr Member specification_members[] = {
    {"AttributeName", &attribute_name, required},
    {"Enabled", &shapes::boolean, required},
};
constexpr Shape specification = structure("TimeToLiveSpecification", specification_members);
constexpr Member update_members[] = {
    {"TableName", &shapes::table_name, required},
    {"TimeToLiveSpecification", &specification, required},
};
constexpr Shape update_shape = structure("UpdateTimeToLiveInput", update_members);
constexpr Member describe_members[] = {
    {"TableName", &shapes::table_name_first, required_first},
};
constexpr Shape describe_shape = structure("DescribeTimeToLiveInput", describe_members);

Result<void> check_change(const engine::Table& table, bool enable, std::string_view attribute) {
  if (table.strong) {
    return error::validation(
        "Time to Live is not supported on global tables with MultiRegionConsistency set to STRONG.");
  }
  if (!table.ttl) {
    if (!enable) return error::validation("TimeToLive is already disabled");
    return {};
  }
  if (table.ttl->attribute != attribute) {
    return error::validation("TimeToLive is active on a different AttributeName: current AttributeName is " +
                             table.ttl->attribute);
  }
  if (enable) return error::validation("TimeToLive is already enabled");
  return {};
}

Result<void> check_cooldown(const Context& context, const engine::Table& table) {
  const auto changed = settings_of(table).ttl_changed;
  if (!changed || context.now() >= *changed + context.ttl_cooldown.count()) return {};
  return error::validation("Time to live has been modified multiple times within a fixed interval");
}

Result<void> update(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  TRY(const auto table, find_named_table(context, name));
  if (context.table_changes.status(context.scope, name) == TableStatus::creating) {
    return error::resource_in_use("Attempt to change a resource which is still in use: Table " + name +
                                  " is being created");
  }
  const json::Value& wanted = *request.member("TimeToLiveSpecification");
  const bool enable = *boolean_member(wanted, "Enabled");
  const std::string attribute(*string_member(wanted, "AttributeName"));
  CHECK_OK(check_change(*table->description(), enable, attribute));
  CHECK_OK(check_cooldown(context, *table->description()));
  // Check the request again while the table cannot change: if two requests are concurrent, one of them must
  // fail. The change applies to all regions of a global table.
  Result<void> changed;
  const auto after =
      context.database.tables().update_together(table, [&](std::vector<engine::Table>& tables) {
        for (const engine::Table& edited : tables) {
          if (edited.id != table->id()) continue;
          changed = check_change(edited, enable, attribute);
          if (changed) changed = check_cooldown(context, edited);
        }
        if (!changed) return false;
        for (engine::Table& edited : tables) {
          change_settings(edited, [&](TableSettings& settings) { settings.ttl_changed = context.now(); });
          if (enable) {
            edited.ttl = engine::TimeToLive{.attribute = attribute};
          } else {
            edited.ttl.reset();
          }
        }
        return true;
      });
  CHECK_OK(std::move(changed));
  if (!after) return named_table_not_found(name);
  out.begin_object();
  out.key("TimeToLiveSpecification");
  out.begin_object();
  out.key("AttributeName");
  out.string(attribute);
  out.key("Enabled");
  out.boolean(enable);
  out.end_object();
  out.end_object();
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  TRY(const auto table, find_named_table(context, name));
  if (context.table_changes.status(context.scope, name) == TableStatus::creating) {
    return error::validation(
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING");
  }
  const auto description = table->description();
  out.begin_object();
  out.key("TimeToLiveDescription");
  out.begin_object();
  out.key("TimeToLiveStatus");
  out.string(description->ttl ? "ENABLED" : "DISABLED");
  if (description->ttl) {
    out.key("AttributeName");
    out.string(description->ttl->attribute);
  }
  out.end_object();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::update_time_to_live{
    dynamodb, "UpdateTimeToLive", Access::control, TablesIn::table_name, &update_shape, &update};
constinit const Operation operations::describe_time_to_live{
    dynamodb, "DescribeTimeToLive", Access::control, TablesIn::table_name, &describe_shape, &describe};

}  // namespace mayfly::compat
