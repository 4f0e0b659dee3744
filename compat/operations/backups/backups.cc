// CreateBackup, DescribeBackup, ListBackups, DeleteBackup.
//
// The rules follow responses that were recorded on AWS in October 2026. It is not known which error AWS
// returns if a request has several errors.
#include "compat/backups/backups.h"

#include <algorithm>

#include "compat/backups/arn.h"
#include "compat/backups/description.h"
#include "compat/backups/restores.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"
#include "engine/background/history.h"
#include "engine/values/number.h"

namespace mayfly::compat {
namespace {

using backups::Backup;
using json::Value;

constexpr std::int64_t listed_max = 100;

constexpr Shape backup_name = string_shape(3, 255, name_pattern);
constexpr Member create_members[] = {
    {"TableName", &shapes::table_name, required},
    {"BackupName", &backup_name, required},
};
constexpr Shape create_shape = structure("CreateBackupInput", create_members);
// The shape accepts any string, because a malformed ARN has its own error message.
constexpr Member arn_members[] = {
    {"BackupArn", &shapes::any_string, required},
};
constexpr Shape describe_shape = structure("DescribeBackupInput", arn_members);
constexpr Shape delete_shape = structure("DeleteBackupInput", arn_members);
constexpr std::string_view type_values[] = {"ALL", "AWS_BACKUP", "SYSTEM", "USER"};
constexpr Shape type = enum_shape(type_values);
constexpr Shape limit = integer_shape(1, listed_max);
constexpr Shape start_arn = string_shape(37, 1024);
constexpr Member list_members[] = {
    {"TableName", &shapes::table_name},          {"Limit", &limit},
    {"TimeRangeLowerBound", &shapes::timestamp}, {"TimeRangeUpperBound", &shapes::timestamp},
    {"ExclusiveStartBackupArn", &start_arn},     {"BackupType", &type},
};
constexpr Shape list_shape = structure("ListBackupsInput", list_members);

Result<void> create(Context& context, const Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  const auto table = context.database.catalog().find(context.scope, name);
  if (table == nullptr || context.table_changes.status(context.scope, name) == TableStatus::creating)
    return error::table_not_found("Table not found: " + name);
  TRY(const Backup backup, context.backups.create(table, *string_member(request, "BackupName")));
  out.begin_object();
  write_details(out, backup, arn_of(backup), "CREATING");  // AVAILABLE in all later responses
  out.end_object();
  return {};
}

struct Found {
  Backup backup;
  engine::Point point;
};

// Looks for the backup in the request's region, even if the ARN names another region.
Result<Found> find(const Context& context, std::string_view arn) {
  TRY(const auto named, backups::read_backup_arn(context, arn));
  auto backup = context.backups.find(context.scope, named.table_name, named.id);
  auto point = backup ? context.database.history().find_point(backup->point) : std::nullopt;
  if (!point) return error::backup_not_found("Backup not found: " + std::string(arn));
  return Found{*std::move(backup), *std::move(point)};
}

void write_answer(const Found& found, std::string_view arn, std::string_view status, json::Writer& out) {
  out.begin_object();
  write_description(out, found.backup, found.point, arn, status);
  out.end_object();
}

Result<void> describe(Context& context, const Value& request, json::Writer& out) {
  const auto arn = *string_member(request, "BackupArn");
  TRY(const Found found, find(context, arn));
  write_answer(found, arn, "AVAILABLE", out);
  return {};
}

Result<void> erase(Context& context, const Value& request, json::Writer& out) {
  const auto arn = *string_member(request, "BackupArn");
  TRY(const Found found, find(context, arn));
  if (const auto expires = found.backup.expires()) {
    return error::validation("Invalid Request: User is not allowed to delete the system backup with arn " +
                             std::string(arn) + ". It will automatically expire on " +
                             engine::iso8601(*expires));
  }
  CHECK_OK(context.restores.erase(found.backup, arn));
  write_answer(found, arn, "DELETED", out);
  return {};
}

// Reads a member of a TimeRange in milliseconds, clamped to the range of clocks.
std::optional<engine::Instant> instant_member(const Value& request, std::string_view name) {
  const Value* value = request.member(name);
  if (value == nullptr) return std::nullopt;
  const auto seconds = engine::Number::parse(value->number_text());
  const auto instant = seconds ? seconds->floor_scaled(3) : std::nullopt;
  if (instant) return std::clamp(*instant, -engine::last_instant, engine::last_instant + 1);
  return value->number_text().starts_with('-') ? -engine::last_instant : engine::last_instant + 1;
}

struct Filter {
  std::string table_name;  // empty: all tables
  std::string_view type;
  std::optional<engine::Instant> from, before;
  std::optional<backups::BackupArn> after;

  [[nodiscard]] bool takes(const Backup& backup) const {
    return (table_name.empty() || backup.table_name == table_name) &&
           (type == "ALL" || type == (backup.system ? "SYSTEM" : "USER")) &&
           (!from || backup.created >= *from) && (!before || backup.created < *before) &&
           (!after || std::tie(after->id, after->table_name) < backup.place());
  }
};

Result<Filter> read_filter(const Context& context, const Value& request) {
  Filter filter;
  if (const auto name = string_member(request, "TableName")) {
    TRY(filter.table_name, resolve_table_name(context, *name));
  }
  filter.type = string_member(request, "BackupType").value_or("USER");
  filter.from = instant_member(request, "TimeRangeLowerBound");
  filter.before = instant_member(request, "TimeRangeUpperBound");
  if (filter.from && filter.before && *filter.from > *filter.before) {
    return error::validation(
        "One or more parameter values were invalid: Time range lower bound must be less than or equal to "
        "upper bound");
  }
  if (const auto arn = string_member(request, "ExclusiveStartBackupArn")) {
    TRY(filter.after, backups::read_backup_arn(context, *arn));
    if (filter.after->region != context.scope.region)
      return error::validation(
          "Invalid Request: The supplied ExclusiveStartBackupArn does not match the region");
  }
  return filter;
}

Result<void> list(Context& context, const Value& request, json::Writer& out) {
  TRY(const Filter filter, read_filter(context, request));
  const auto count_max = integer_member(request, "Limit").value_or(listed_max);
  std::string last;
  bool more = false;
  std::int64_t count = 0;
  out.begin_object();
  out.key("BackupSummaries");
  out.begin_array();
  for (const Backup& backup : context.backups.list(context.scope)) {
    if (!filter.takes(backup)) continue;
    more = count == count_max;
    if (more) break;
    write_summary(out, backup);
    last = arn_of(backup);
    ++count;
  }
  out.end_array();
  if (more) {
    out.key("LastEvaluatedBackupArn");
    out.string(last);
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::create_backup{
    dynamodb, "CreateBackup", Access::control, TablesIn::table_name, &create_shape, &create};
constinit const Operation operations::describe_backup{dynamodb,          "DescribeBackup", Access::control,
                                                      TablesIn::nothing, &describe_shape,  &describe};
constinit const Operation operations::delete_backup{dynamodb,          "DeleteBackup", Access::control,
                                                    TablesIn::nothing, &delete_shape,  &erase};
constinit const Operation operations::list_backups{
    dynamodb, "ListBackups", Access::control, TablesIn::table_name, &list_shape, &list};

}  // namespace mayfly::compat
