#include "compat/tables/lookup.h"

#include "compat/tables/arn.h"
#include "compat/tables/changes.h"

namespace mayfly::compat {
namespace {

std::shared_ptr<engine::LiveTable> look_up(const Context& context, std::string_view name) {
  return context.database.catalog().find(context.scope, name);
}

}  // namespace

Unexpected<Error> table_not_found() { return error::resource_not_found("Requested resource not found"); }

Unexpected<Error> named_table_not_found(std::string_view table_name) {
  return error::resource_not_found("Requested resource not found: Table: " + std::string(table_name) +
                                   " not found");
}

Result<std::string> resolve_table_name(const Context& context, std::string_view name_or_arn) {
  if (!name_or_arn.starts_with("arn:")) return std::string(name_or_arn);
  const auto arn = parse_table_arn(name_or_arn);
  if (!arn) {
    return error::validation("Invalid TableArn: Invalid ResourceArn provided as input " +
                             std::string(name_or_arn));
  }
  if (arn->region != context.scope.region) {
    return error::validation("1 validation error detected: Invalid AWS region in '" +
                             std::string(name_or_arn) + "'");
  }
  if (arn->account != context.scope.account) return table_not_found();
  return std::string(arn->name);
}

Result<std::shared_ptr<engine::LiveTable>> find_table(const Context& context, std::string_view name_or_arn) {
  TRY(const auto name, resolve_table_name(context, name_or_arn));
  auto table = look_up(context, name);
  if (table == nullptr || !table->description()->copies_from.empty() ||
      context.table_changes.status(context.scope, name) == TableStatus::creating) {
    return table_not_found();
  }
  return table;
}

Result<std::shared_ptr<engine::LiveTable>> find_named_table(const Context& context,
                                                            std::string_view name_or_arn) {
  TRY(auto table, find_described_table(context, name_or_arn));
  const auto description = table->description();
  if (!description->copies_from.empty()) return named_table_not_found(description->name);
  return table;
}

Result<std::shared_ptr<engine::LiveTable>> find_described_table(const Context& context,
                                                                std::string_view name_or_arn) {
  TRY(const auto name, resolve_table_name(context, name_or_arn));
  auto table = look_up(context, name);
  if (table == nullptr || is_being_restored(context, name)) return named_table_not_found(name);
  return table;
}

bool is_being_restored(const Context& context, std::string_view table_name) {
  const auto change = context.table_changes.find(context.scope, table_name);
  return change && change->status == TableStatus::creating && change->restore.has_value();
}

Result<void> check_settled(const Context& context, std::string_view table_name) {
  const auto status = context.table_changes.status(context.scope, table_name);
  if (status) return still_changing(*status, table_name);
  return {};
}

Unexpected<Error> still_changing(TableStatus status, std::string_view table_name) {
  const std::string_view what = status == TableStatus::creating   ? "created"
                                : status == TableStatus::updating ? "updated"
                                                                  : "deleted";
  return error::resource_in_use("Attempt to change a resource which is still in use: Table is being " +
                                std::string(what) + ": " + std::string(table_name));
}

}  // namespace mayfly::compat
