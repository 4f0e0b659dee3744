#include "compat/backups/backups.h"
#include "compat/kinesis/destinations.h"
#include "compat/operations/operations.h"
#include "compat/operations/tables/replica_updates.h"
#include "compat/settings/settings.h"
#include "compat/tables/description.h"
#include "compat/tables/lookup.h"
#include "compat/tables/replicas.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr Member members[] = {
    {"TableName", &shapes::table_name_first, required_first},
};
constexpr Shape shape = structure("DeleteTableInput", members);

void write_answer(Context& context, const TableChange& change, const engine::LiveTable* counters,
                  json::Writer& out) {
  out.begin_object();
  out.key("TableDescription");
  write_table_description(out, change, counters, context.now());
  out.end_object();
}

Unexpected<Error> is_protected(const engine::Table& table) {
  if (table.replicas.empty()) {
    return error::validation(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
        "protection first.");
  }
  return protected_replica(table);
}

Result<void> check_deletion(const Context& context, const engine::Table& table) {
  if (!table.copies_from.empty()) {
    return error::resource_in_use("Attempt to change a resource which is still in use: Table: " + table.name +
                                  " is being used.");
  }
  if (table.strong) return strong_stays_whole();
  CHECK_OK(check_no_source(context, table));
  if (settings_of(table).deletion_protection) return is_protected(table);
  return {};
}

Result<void> drop(Context& context, const std::shared_ptr<engine::LiveTable>& table) {
  const auto description = table->description();
  if (!description->replicas.empty()) {
    const auto is_it = [&](const engine::Table& each) { return each.id == table->id(); };
    return drop_replicas(context, table, is_it, [] { return Result<void>(); });
  }
  if (!context.backups.drop_table(table)) return named_table_not_found(description->name);
  return {};
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto name, resolve_table_name(context, *string_member(request, "TableName")));
  const auto change = context.table_changes.find(context.scope, name);
  if (change && change->status == TableStatus::deleting) {  // not an error, as documented
    write_answer(context, *change, nullptr, out);
    return {};
  }
  if (change && change->restore) return still_changing(change->status, name);
  TRY(const auto table, find_described_table(context, name));
  if (change && (change->status == TableStatus::updating || !change->backfilling.empty())) {
    return error::resource_in_use("Attempt to change a resource which is still in use: Table: " + name +
                                  " is in the process of being updated.");
  }
  CHECK_OK(check_settled(context, name));
  const auto description = table->description();
  CHECK_OK(check_deletion(context, *description));
  TableChange deletion{TableStatus::deleting, description};
  deletion.global = global_table_of(context, *description);
  // Write the response first, because the counters that it shows are dropped with the table.
  write_answer(context, deletion, table.get(), out);
  // Announce the deletion before dropping the table, so that the name is never free in between.
  context.table_changes.begin(context.scope, deletion);
  if (auto dropped = drop(context, table); !dropped) {
    if (!table->dropped()) context.table_changes.drop(context.scope, name);
    return dropped;
  }
  context.kinesis.forget(*description);
  return {};
}

}  // namespace

constinit const Operation operations::delete_table{
    dynamodb, "DeleteTable", Access::control, TablesIn::table_name, &shape, &run};

}  // namespace mayfly::compat
