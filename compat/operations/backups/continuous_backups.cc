#include "compat/backups/backups.h"
#include "compat/operations/operations.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr Shape days = integer_shape(1, backups::recovery_days_max);
constexpr Member specification_members[] = {
    {"PointInTimeRecoveryEnabled", &shapes::boolean, required},
    {"RecoveryPeriodInDays", &days},
};
constexpr Shape specification = structure("PointInTimeRecoverySpecification", specification_members);
constexpr Member update_members[] = {
    {"TableName", &shapes::table_name, required},
    {"PointInTimeRecoverySpecification", &specification, required},
};
constexpr Shape update_shape = structure("UpdateContinuousBackupsInput", update_members);
constexpr Member describe_members[] = {
    {"TableName", &shapes::table_name, required},
};
constexpr Shape describe_shape = structure("DescribeContinuousBackupsInput", describe_members);

// For a missing table, the operations in this file return a different error than other operations do.
Result<std::shared_ptr<engine::LiveTable>> find(const Context& context, const std::string& name) {
  auto table = context.database.catalog().find(context.scope, name);
  if (table == nullptr || context.table_changes.status(context.scope, name) == TableStatus::creating) {
    return error::table_not_found("Table not found: " + name);
  }
  return table;
}

void write_answer(Context& context, const engine::LiveTable& table, json::Writer& out) {
  const auto window = context.backups.window(table);
  const auto description = table.description();
  out.begin_object();
  out.key("ContinuousBackupsDescription");
  out.begin_object();
  out.key("ContinuousBackupsStatus");
  out.string("ENABLED");  // always; only point-in-time recovery can be turned off
  out.key("PointInTimeRecoveryDescription");
  out.begin_object();
  out.key("PointInTimeRecoveryStatus");
  out.string(window ? "ENABLED" : "DISABLED");
  if (window) {
    out.key("RecoveryPeriodInDays");
    out.integer(description->recovery ? description->recovery->days : backups::recovery_days_max);
    out.key("EarliestRestorableDateTime");
    out.seconds(window->earliest);
    out.key("LatestRestorableDateTime");
    out.seconds(window->latest);
  }
  out.end_object();
  out.end_object();
  out.end_object();
}

Result<void> update(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  const json::Value& wanted = *request.member("PointInTimeRecoverySpecification");
  const bool enable = *boolean_member(wanted, "PointInTimeRecoveryEnabled");
  const auto period = integer_member(wanted, "RecoveryPeriodInDays");
  if (!enable && period) {
    return error::validation(
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  }
  TRY(const auto table, find(context, name));
  CHECK_OK(context.backups.set_recovery(
      table, enable ? std::optional(period.value_or(backups::recovery_days_max)) : std::nullopt));
  write_answer(context, *table, out);
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  TRY(const auto table, find(context, name));
  write_answer(context, *table, out);
  return {};
}

}  // namespace

constinit const Operation operations::update_continuous_backups{
    dynamodb, "UpdateContinuousBackups", Access::control, TablesIn::table_name, &update_shape, &update};
constinit const Operation operations::describe_continuous_backups{
    dynamodb, "DescribeContinuousBackups", Access::control, TablesIn::table_name, &describe_shape, &describe};

}  // namespace mayfly::compat
