// RestoreTableFromBackup, RestoreTableToPointInTime.
//
// The rules follow responses that were recorded on AWS in October 2026. For a point in time, AWS checks the
// request's shape, then whether recovery is on, then the time, then the target's name. It is not known at
// which stage AWS checks overrides.
#include <algorithm>

#include "compat/backups/arn.h"
#include "compat/backups/backups.h"
#include "compat/backups/restore_rules.h"
#include "compat/backups/restores.h"
#include "compat/operations/operations.h"
#include "compat/tables/arn.h"
#include "compat/tables/description.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_vector.h"
#include "engine/background/history.h"
#include "engine/values/number.h"

namespace mayfly::compat {
namespace {

using json::Value;

// AWS checks the length first, with a message that calls the parameter TableName. check_target rejects ARNs.
constexpr Shape target_name = {
    .min = 3, .max = 255, .pattern = name_pattern, .table_name = true, .length_first = true};
constexpr Shape source_name = {.min = 3, .max = 255, .pattern = name_pattern};
constexpr Shape arn_or_name = string_shape({}, 1024);  // a malformed ARN has its own error message
constexpr Member backup_members[] = {
    {"TargetTableName", &target_name, required},
    {"BackupArn", &shapes::any_string, required},
    {"BillingModeOverride", &shapes::billing_mode},
    {"GlobalSecondaryIndexOverride", &shapes::global_indexes},
    {"LocalSecondaryIndexOverride", &shapes::local_indexes},
    {"ProvisionedThroughputOverride", &shapes::provisioned_throughput},
    {"OnDemandThroughputOverride", &shapes::on_demand_throughput},
    {"SSESpecificationOverride", &shapes::encryption},
    {"VectorIndexOverride", &shapes::vector_indexes},
};
constexpr Shape backup_shape = structure("RestoreTableFromBackupInput", backup_members);
constexpr Member instant_members[] = {
    {"SourceTableArn", &arn_or_name},
    {"SourceTableName", &source_name},
    {"TargetTableName", &target_name, required},
    {"UseLatestRestorableTime", &shapes::boolean},
    {"RestoreDateTime", &shapes::timestamp},
    {"BillingModeOverride", &shapes::billing_mode},
    {"GlobalSecondaryIndexOverride", &shapes::global_indexes},
    {"LocalSecondaryIndexOverride", &shapes::local_indexes},
    {"ProvisionedThroughputOverride", &shapes::provisioned_throughput},
    {"OnDemandThroughputOverride", &shapes::on_demand_throughput},
    {"SSESpecificationOverride", &shapes::encryption},
    {"VectorIndexOverride", &shapes::vector_indexes},
};
constexpr Shape instant_shape = structure("RestoreTableToPointInTimeInput", instant_members);

Result<void> check_target(const Value& request) {
  const auto name = *string_member(request, "TargetTableName");
  if (!name.starts_with("arn:")) return {};
  return error::validation("1 validation error detected: Value '" + std::string(name) +
                           "' at 'targetTableName' failed to satisfy constraint: Member must satisfy regular "
                           "expression pattern: [a-zA-Z0-9_.-]+");
}

Result<void> start(Context& context, engine::Table table, const RestoreOrigin& origin, json::Writer& out) {
  TRY(const auto started, context.restores.start(context, std::move(table), origin));
  out.begin_object();
  out.key("TableDescription");
  write_table_description(out, started.change, started.table.get(), context.now());
  out.end_object();
  return {};
}

Result<void> from_backup(Context& context, const Value& request, json::Writer& out) {
  const std::string arn(*string_member(request, "BackupArn"));
  CHECK_OK(check_target(request));
  TRY(const auto named, backups::read_backup_arn(context, arn));
  CHECK_OK(backups::check_overrides(request));
  CHECK_OK(backups::check_region(context, request, named.region));
  const engine::Scope source{context.scope.account, named.region};
  const auto backup = context.backups.find(source, named.table_name, named.id);
  const auto point = backup ? context.database.history().find_point(backup->point) : std::nullopt;
  if (!point) return error::backup_not_found("Backup not found: " + arn);
  TRY(auto table, backups::restored_table(context, request, point->table));
  const RestoreOrigin origin{
      .backup_arn = arn, .table_arn = table_arn(point->table), .at = backup->created, .point = point->id};
  return start(context, std::move(table), origin, out);
}

// ---------------------------------------------------------------- to a point in time

Result<void> check_time(const Value& request) {
  const bool latest = boolean_member(request, "UseLatestRestorableTime").value_or(false);
  const bool given = request.member("RestoreDateTime") != nullptr;
  if (latest && given) {
    return error::validation(
        "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
        "restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime");
  }
  if (latest || given) return {};
  return error::validation(
      "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not "
      "both");
}

struct Source {
  engine::Scope scope;
  std::string name;
  bool by_arn;
};

Result<Source> read_source(const Context& context, const Value& request) {
  const auto name = string_member(request, "SourceTableName");
  const auto arn = string_member(request, "SourceTableArn");
  if (name && arn) return error::validation("Must provide exactly one of: sourceTableArn, sourceTableName");
  if (!name && !arn)
    return error::validation("The parameter 'TableName' is required but was not present in the request");
  if (name) return Source{context.scope, std::string(*name), false};
  if (!arn->starts_with("arn:")) {
    return error::validation("One or more parameter values were invalid: ARNs must start with 'arn:': " +
                             std::string(*arn));
  }
  const auto parsed = parse_table_arn(*arn);
  if (!parsed) return error::validation("sourceTableArn is not a valid ARN");
  if (parsed->account != context.scope.account) {
    return error::validation(
        "This action is only supported by accounts that match the resource owner’s account.");
  }
  CHECK_OK(backups::check_region(context, request, parsed->region));
  return Source{{context.scope.account, std::string(parsed->region)}, std::string(parsed->name), true};
}

// Formats a time without a fraction of a second: "2026-10-06T23:16:32Z".
std::string to_the_second(engine::Instant instant) {
  std::string text = engine::iso8601(std::clamp<engine::Instant>(instant, 0, engine::last_instant));
  return text.substr(0, text.find('.')) + "Z";
}

Result<engine::Instant> read_instant(const Value& request, const backups::Backups::Window& window) {
  const Value* given = request.member("RestoreDateTime");
  if (given == nullptr) return window.latest;
  const auto seconds = engine::Number::parse(given->number_text());
  // A missing number, or one that is too large, counts as a time after any window.
  engine::Instant instant = engine::last_instant;
  if (seconds) instant = seconds->floor_scaled(3).value_or(engine::last_instant);
  if (window.has(instant)) return instant;
  return error::invalid_restore_time("RestoreDateTime '" + to_the_second(instant) +
                                     "' must be within EarliestRestorableDateTime '" +
                                     to_the_second(window.earliest) + "' and LatestRestorableDateTime '" +
                                     to_the_second(window.latest) + "'");
}

Result<void> to_point_in_time(Context& context, const Value& request, json::Writer& out) {
  CHECK_OK(check_target(request));
  CHECK_OK(check_time(request));
  CHECK_OK(backups::check_overrides(request));
  TRY(const Source source, read_source(context, request));
  const auto not_found = [&] {
    return error::table_not_found(source.by_arn ? "Table not found" : "Table not found: " + source.name);
  };
  const auto table = context.database.catalog().find(source.scope, source.name);
  if (table == nullptr || context.table_changes.status(source.scope, source.name) == TableStatus::creating)
    return not_found();
  const auto window = context.backups.window(*table);
  if (!window) {
    if (table->dropped()) return not_found();  // dropped since it was found
    return error::point_in_time_recovery_unavailable("Point in time recovery is not enabled for table '" +
                                                     source.name + "'");
  }
  TRY(const auto instant, read_instant(request, *window));
  const auto description = table->description();
  TRY(auto restored, backups::restored_table(context, request, *description));
  const RestoreOrigin origin{
      .table_arn = table_arn(*description), .at = window->within(instant), .source_table = table->id()};
  return start(context, std::move(restored), origin, out);
}

}  // namespace

constinit const Operation operations::restore_table_from_backup{
    dynamodb,     "RestoreTableFromBackup", Access::control, TablesIn::nothing, &backup_shape, &from_backup,
    Frame::older, Extent::whole_tables};
constinit const Operation operations::restore_table_to_point_in_time{
    dynamodb,       "RestoreTableToPointInTime", Access::control, TablesIn::nothing,
    &instant_shape, &to_point_in_time,           Frame::older,    Extent::whole_tables};

}  // namespace mayfly::compat
